package ui

import (
	"strings"

	"nbs-worker/internal/human"
)

// Pasteable adds the global flags of this call to the commands in a text. Without them a pasted command would act on
// another project or tmux server. The caller's environment needs no flags, since a pasted command has it too. A command
// follows a colon or a comma; elsewhere "nbs-worker" is a word of the sentence.
func (f *Factory) Pasteable(text string) string {
	flags := ""
	if f.Streams.Host != "" && !strings.Contains(text, "nbs-worker --host ") {
		flags += " --host " + f.Streams.Host
	}
	isKnown := f.Streams.Host != "" && f.Root == f.Streams.Folder                  // by --host alone
	if f.Root != "" && !isKnown && !strings.Contains(text, "nbs-worker --root ") { // otherwise it names another project
		flags += " --root " + LineQuote(f.Root)
	}
	if f.Socket != "" && !strings.Contains(text, "--tmux-socket ") {
		flags += " --tmux-socket " + LineQuote(f.Socket)
	}
	if flags == "" || strings.HasSuffix(text, " --help") {
		return text
	}
	const name = "nbs-worker "
	command := strings.TrimSpace(name) + flags + " "
	const here = ": " + name + "host " // about the user's hosts, and not for one
	return strings.NewReplacer(here, here, ": "+name, ": "+command, ", "+name, ", "+command).Replace(text)
}

// LineQuote is shellQuote for text within one line: text after a line break would look like our own output.
func LineQuote(word string) string {
	if strings.ContainsRune(word, '\n') {
		return human.ShellWord(word)
	}
	return ShellQuote(word)
}

const shellSafe = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789@%+=:,./_-"

// ShellQuote quotes a word for a shell, if it needs quotes.
func ShellQuote(word string) string {
	if word != "" && strings.Trim(word, shellSafe) == "" {
		return word
	}
	if strings.ContainsRune(word, '\n') && human.IsLegible(word) {
		return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'" // multi-line, as typed
	}
	return human.ShellWord(word)
}
