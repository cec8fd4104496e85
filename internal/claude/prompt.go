package claude

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
)

// promptLimit is the largest size in bytes of one argument of a program on Linux, without its final NUL.
const promptLimit = 128<<10 - 1

// CheckPrompt refuses a first prompt that would not reach claude unchanged. Errors: BadInput.
func CheckPrompt(prompt string) error {
	if err := agent.CheckText("the prompt", prompt); err != nil {
		return err
	}
	if len(prompt) > promptLimit {
		return fail.Errorf(fail.BadInput, "the prompt has %d bytes, the limit is %d", len(prompt), promptLimit).
			Hint("put the text into a file, and use the prompt: Read FILE and do what it says.")
	}
	if err := checkControls(prompt); err != nil {
		return err
	}
	return checkCommand(prompt)
}

// checkControls refuses control characters, such as the colours of a log: 2.1.329 drops them from a prompt without an
// error.
func checkControls(prompt string) error {
	at := strings.IndexFunc(prompt, func(r rune) bool { return unicode.IsControl(r) && !strings.ContainsRune("\t\n\r", r) })
	if at < 0 {
		return nil
	}
	character, _ := utf8.DecodeRuneInString(prompt[at:]) // the prompt may be of a file, which no error quotes
	return fail.Errorf(fail.BadInput, "the prompt contains a control character (%U at byte %d); claude would drop it", character, at).
		Hint("remove it, or put the text into a file, and use the prompt: Read FILE and do what it says.")
}

// leavingCommands are prompts that make Claude end, or leave the recorded conversation.
var leavingCommands = []string{
	"/exit", "/quit", "exit", "quit", ":q", ":q!", ":wq", ":wq!",
	"/clear", "/new", "/reset", "/branch", "/fork", "/resume", "/continue",
	"/logout", "/login",
	"/background", "/bg", "/teleport", "/tp", "/desktop", "/app", "/cd",
}

func isLeaving(command string) bool { return slices.Contains(leavingCommands, command) }

func checkCommand(prompt string) error {
	trimmed := strings.TrimSpace(prompt)
	word := trimmed
	if end := strings.IndexFunc(trimmed, unicode.IsSpace); end >= 0 {
		word = trimmed[:end]
	}
	if isLeaving(trimmed) || strings.HasPrefix(word, "/") && isLeaving(word) {
		return fail.Errorf(fail.BadInput, "the prompt is the command %s; it would make claude leave the conversation", human.Quote(word)).
			Hint("give a prompt for the model")
	}
	return nil
}

// IsCommand reports whether Claude takes a prompt as a command to itself, not as words to the model: a command of its
// own or of the project's, one for the shell, or a note to its memory.
func IsCommand(prompt string) bool {
	words := strings.TrimLeftFunc(prompt, func(r rune) bool { return unicode.IsSpace(r) || !unicode.IsGraphic(r) })
	return words != "" && strings.ContainsRune("/!#", rune(words[0]))
}

// NamesFile reports whether a prompt has an @ at the beginning of a word: Claude adds the file of that name to the
// conversation without asking.
func NamesFile(prompt string) bool { return Literal(prompt) != prompt }

// Literal returns a prompt in which no @ names a file. It puts a backslash before each @ that would, so that no word
// begins with it. Text behind an @ does not help: Claude resolves a path with "..", whatever comes before it.
func Literal(prompt string) string {
	before := ' '
	runes := []rune(prompt)
	literal := make([]rune, 0, len(runes))
	for i, r := range runes {
		if r == '@' && beginsWord(before) && i+1 < len(runes) && !strings.ContainsRune(" \t\r\n", runes[i+1]) {
			literal = append(literal, '\\')
		}
		literal = append(literal, r)
		before = r
	}
	return string(literal)
}

// beginsWord reports whether a word may begin after a character: white space, a quote, a bracket,
// or a character outside ASCII that is no letter or digit, such as a full stop of another script.
func beginsWord(before rune) bool {
	if before > unicode.MaxASCII {
		return !unicode.IsLetter(before) && !unicode.IsDigit(before)
	}
	return unicode.IsSpace(before) || strings.ContainsRune("\"'`([{<>}])", before)
}
