package ui

import (
	"strings"

	"nbs-worker/internal/human"
)

// Pasteable adds the global flags of this call to the commands in a text. Without them a pasted command would act on
// another project or tmux server. The caller's environment needs no flags, since a pasted command has it too. A command
// follows a colon or a comma, and begins with a verb or a flag; elsewhere "nbs-worker" is a word of the sentence.
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
	var out strings.Builder
	for {
		before, rest, is := strings.Cut(text, name)
		if out.WriteString(before); !is {
			return out.String()
		}
		out.WriteString(strings.TrimSpace(name))
		if begins := strings.HasSuffix(before, ": ") || strings.HasSuffix(before, ", "); begins && f.isCommand(rest) {
			out.WriteString(flags)
		}
		out.WriteByte(' ')
		text = rest
	}
}

// isCommand reports whether words behind the program's name are a command for an agent's project, and no sentence. Those
// about the user's hosts are for no project.
func (f *Factory) isCommand(words string) bool {
	first, _, _ := strings.Cut(words, " ")
	first = strings.TrimRight(first, ",;.)\n")
	switch {
	case first == "host":
		return false
	case f.Tree == nil || first == "help" || strings.HasPrefix(first, "-"):
		return true
	}
	cmd, _, err := f.Tree(first).Find([]string{first})
	return err == nil && cmd.HasParent()
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
