// Package message writes to agents, and reports whether what was written arrived.
//
//   - Text is typed only into the ready prompt of an idle claude (package typing).
//   - A receipt is read from the transcript, where Claude records what it took. It is never inferred from the keys
//     that were sent. Nothing is typed twice: a text whose arrival is unknown is remembered. When it is sent again,
//     it is searched for in the transcript.
//   - The messages in an agent's outbox are typed in order, by one deliverer at a time, and no message overtakes
//     them. The transcript shows whether a killed deliverer had typed one.
//   - A text that Claude would take for a command is refused, or goes by a file if the caller asks for that.
//   - A message from an agent is marked: only a person's words arrive as the user's own.
//   - The verb lock is held during typing: the agent is not ended or started, and no second writer types.
package message

import (
	"strings"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/claude"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
)

// Message is a message to an agent.
type Message struct {
	Text    string
	Raw     bool          // it is a command of Claude's own, such as /compact
	ByFile  bool          // send it by a file, whatever its length
	Reply   bool          // wait for the answer
	Queue   bool          // keep it in the agent's outbox if it cannot be submitted now
	Force   bool          // also if the last receipt of this text was unknown
	Timeout time.Duration // of the wait for the prompt, and again of the wait for the answer; 0: no limit
}

// Word is what a receipt says.
type Word string

// The receipts.
const (
	Accepted Word = "accepted" // the transcript contains it
	Queued   Word = "queued"   // Claude has it, and takes it up after this turn
	Held     Word = "held"     // nothing was submitted
	Unknown  Word = "unknown"  // it was submitted, without proof
)

// The channels by which a text reaches an agent.
const (
	Typed  = "typed"
	ByFile = "file" // the text is in a file, and the typed text names the file
)

// Receipt is the result of sending a message.
type Receipt struct {
	Handle  agent.Handle
	Word    Word
	Channel string  // "": nothing was written
	UUID    string  // of its record in the transcript; "" while it is queued
	File    string  // contains the text; "": no file
	Answer  *string // the agent's last words in that very turn; nil: not asked for, or no words
	Outbox  string  // id in the agent's outbox if the text is kept there
	Reason  string  // why it is kept there
}

// limit is the size of the longest text in bytes. A text of that size goes by a file.
const limit = 1 << 20

// check refuses a text that would not arrive, or would be taken for a command. Errors: BadInput.
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
			Hint("without --raw the model gets the text unchanged")
	case m.Raw && hasUntypable(strings.ReplaceAll(text, "\n", "")):
		return fail.Errorf(fail.BadInput, "the command has a character that Claude may not take: %s", human.Quote(firstLine(text)))
	case m.Raw && (!isTypable(text) || strings.Contains(text, "\n")):
		return fail.Errorf(fail.BadInput, "a command of Claude's own has one line, of at most %d characters", typedCharacters)
	case m.Raw:
		return claude.CheckPrompt(text) // it refuses a command that would leave the conversation
	case !m.ByFile && isOrder(text):
		return fail.Errorf(fail.BadInput, "Claude would run %s as its own command, and the model would not get it", human.Quote(firstLine(text))).
			Hint("to send it to the model as text: --by-file").
			Hint("to run it as Claude's own command: --raw")
	}
	return nil
}

// isOrder reports whether Claude would act on a text itself, and not give it to the model.
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
