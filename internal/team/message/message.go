// Package message writes to agents, and reports whether what was written arrived.
//
//   - Text goes only into a prompt that is ready: claude is idle by all that is known, its box is
//     on the screen, nobody's unsent draft is in it, no dialog has taken its place, and it shows a
//     blank that is typed first. The text and Enter come in one write, which cuts what a person may
//     have typed meanwhile and puts it back: Enter submits the text and nothing else. See command.go for Claude's commands.
//   - A receipt is read from the transcript, where Claude writes down what it took, and never
//     inferred from keys that were sent. Nothing is typed twice: a text of which nobody knows whether
//     it arrived is remembered, and looked for when it is sent again.
//   - What is kept in an agent's outbox is typed in its order, by one deliverer at a time, and nothing
//     overtakes it. The transcript shows whether a deliverer that was killed had typed it.
//   - What Claude would take for an order to itself is refused, or goes by a file if the caller asks.
//   - A message of an agent's is marked as such: only a person's words arrive as the user's own.
//   - The verb lock is held while somebody types: the agent is not ended or started meanwhile, and
//     two writers do not type into each other.
package message

import (
	"strings"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/claude"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
)

// Message is what is to be written to an agent.
type Message struct {
	Text    string
	Raw     bool          // it is a command of Claude's own, such as /compact
	ByFile  bool          // it goes by a file, whatever its length
	Reply   bool          // the answer is waited for
	Queue   bool          // what cannot be submitted now is kept in the agent's outbox
	Force   bool          // also when the last receipt of this text was unknown
	Timeout time.Duration // of the wait for the prompt, and again of that for the answer; 0: none
}

// Word is what a receipt says.
type Word string

// The receipts.
const (
	Accepted Word = "accepted" // it stands in the transcript
	Queued   Word = "queued"   // Claude has it, and takes it up after this turn
	Held     Word = "held"     // nothing was submitted
	Unknown  Word = "unknown"  // it was submitted, and there is no proof
)

// The channels on which a text reaches an agent.
const (
	Typed  = "typed"
	ByFile = "file" // the text is in a file, and what is typed names it
)

// Receipt is what became of a message.
type Receipt struct {
	Handle  agent.Handle
	Word    Word
	Channel string  // "": nothing was written
	UUID    string  // of its record in the transcript; "" while it is queued
	File    string  // that holds the text; "": none
	Answer  *string // the agent's last words in that very turn; nil: not asked for, or none
	Outbox  string  // id in the agent's outbox, where the text is kept; "": it is not
	Reason  string  // why it is kept there
}

// limit is the size in bytes of the longest text, which is handed over in a file.
const limit = 1 << 20

// check refuses a text that would not arrive, or would be taken for an order. Errors: BadInput.
func (m *Message) check() error {
	text := normal(m.Text)
	switch {
	case text == "":
		return fail.Errorf(fail.BadInput, "the message is empty").Hint("give a text, a file with --file, or - for standard input")
	case agent.CheckText("the message", text) != nil:
		return agent.CheckText("the message", text)
	case len(text) > limit:
		return fail.Errorf(fail.BadInput, "the message has %s, the limit is %s", human.Bytes(uint64(len(text))), human.Bytes(limit)).
			Hint("put it into a file, and send its path")
	case m.Raw && !strings.HasPrefix(text, "/"):
		return fail.Errorf(fail.BadInput, "--raw is for a command of Claude's own, which begins with a /").
			Hint("without --raw the text reaches the model as it is")
	case m.Raw && hasUntypable(strings.ReplaceAll(text, "\n", "")):
		return fail.Errorf(fail.BadInput, "the command has a character that Claude would not take: %s", human.Quote(firstLine(text)))
	case m.Raw && (!isTypable(text) || strings.Contains(text, "\n")):
		return fail.Errorf(fail.BadInput, "a command of Claude's own has one line, of at most %d characters", typedCharacters)
	case m.Raw:
		return claude.CheckPrompt(text) // it refuses a command that would leave the conversation
	case !m.ByFile && isOrder(text):
		return fail.Errorf(fail.BadInput, "Claude would take %s for an order to itself, and not for words to the model", human.Quote(firstLine(text))).
			Hint("to have it read as words: --by-file").
			Hint("to give a command of Claude's own: --raw")
	}
	return nil
}

// isOrder reports whether Claude does something with a text other than to give it to the model.
func isOrder(text string) bool {
	switch strings.ToLower(text) {
	case "exit", "quit", ":q", ":q!", ":wq", ":wq!", "?":
		return true
	}
	return claude.IsCommand(text)
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line
}
