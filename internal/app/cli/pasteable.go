package cli

import (
	"strings"

	"nbs-worker/internal/human"
)

// pasteable adds the global flags of this call to the commands in a text. Without them a pasted command would act on
// another project or tmux server. The caller's environment needs no flags, since a pasted command has it too. A command
// follows a colon or a comma; elsewhere "nbs-worker" is a word of the sentence.
func (f *factory) pasteable(text string) string {
	flags := ""
	if f.root != "" && !strings.Contains(text, "nbs-worker --root ") { // otherwise it names another project
		flags += " --root " + lineQuote(f.root)
	}
	if f.socket != "" && !strings.Contains(text, "--tmux-socket ") {
		flags += " --tmux-socket " + lineQuote(f.socket)
	}
	if flags == "" || strings.HasSuffix(text, " --help") {
		return text
	}
	const name = "nbs-worker "
	command := strings.TrimSpace(name) + flags + " "
	return strings.NewReplacer(": "+name, ": "+command, ", "+name, ", "+command).Replace(text)
}

// lineQuote is shellQuote for text within one line: text after a line break would look like our own output.
func lineQuote(word string) string {
	if strings.ContainsRune(word, '\n') {
		return human.ShellWord(word)
	}
	return shellQuote(word)
}
