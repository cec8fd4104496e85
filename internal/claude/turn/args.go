package turn

import (
	"encoding/json"
	"strconv"

	"github.com/google/uuid"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/claude"
)

// Spec is what a claude for turns is started with.
type Spec struct {
	SessionID        agent.SessionID
	Opening          claude.Opening  // how SessionID is opened; ignored for a fork
	Fork             agent.SessionID // go on with a copy of this conversation, under SessionID; "": none
	Model            agent.Model     // "": Claude's default, or the conversation's last
	SystemPromptFile string          // absolute path of a private file; "": Claude's own prompt. At every turn: see [Args]
	Settings         string          // of [Settings]
	Partial          bool            // report the answer while it is being written
	Extra            []string        // the user's own arguments
}

// Args are claude's arguments, without the program. The system prompt is given at every start:
// 2.1.197 forgets it at a resume without it, and 2.1.329 when the conversation was compacted.
func Args(spec Spec) []string {
	args := []string{
		"-p", "--input-format", "stream-json", "--output-format", "stream-json", "--verbose", "--replay-user-messages",
	}
	if spec.Fork != "" {
		args = append(args, string(claude.OpenResume), string(spec.Fork), "--fork-session", string(claude.OpenNew), string(spec.SessionID))
	} else {
		args = append(args, string(spec.Opening), string(spec.SessionID))
	}
	for _, option := range []struct{ name, value string }{
		{"--model", string(spec.Model)},
		{"--system-prompt-file", spec.SystemPromptFile},
		{"--settings", spec.Settings},
	} {
		if option.value != "" {
			args = append(args, option.name, option.value)
		}
	}
	if spec.Partial {
		args = append(args, "--include-partial-messages")
	}
	return append(args, spec.Extra...)
}

// ContextVariable names the private file with the context of the next turn.
const ContextVariable = "NBS_TURN_CONTEXT"

// EagerFlush makes claude write its transcript before it asks the API and before it answers, instead of up to 0.1 s
// later. It is not documented; 2.1.197 and 2.1.329 know it.
const EagerFlush = "CLAUDE_CODE_EAGER_FLUSH"

const hookTimeout = 10 // seconds; claude goes on without

// Settings is the value of --settings: one hook, whose output brings a turn's context to the model beside the
// user's words. Its command always exits with 0, because any other code would fail the turn.
func Settings() string {
	const command = `cat "$` + ContextVariable + `" 2>/dev/null || :`
	type hook struct {
		Type    string `json:"type"`
		Command string `json:"command"`
		Timeout int    `json:"timeout"`
	}
	type group struct {
		Hooks []hook `json:"hooks"`
	}
	text, _ := json.Marshal(struct { // of strings and numbers: it cannot fail
		Hooks map[string][]group `json:"hooks"`
	}{map[string][]group{"UserPromptSubmit": {{Hooks: []hook{{"command", command, hookTimeout}}}}}})
	return string(text)
}

// Continue is sent to go on with a turn whose text is already in the conversation, so that the
// text is not sent a second time.
const Continue = "Please answer the message above; it has had no answer yet."

// TextID is the id of a turn's text in the transcript, a UUID. invocation is the turn's own, seq its number in the
// conversation.
func TextID(invocation string, seq int) string {
	return uuid.NewSHA1(uuid.NameSpaceURL, []byte(Marker(invocation, seq))).String()
}

// Marker is the first line of a turn's context, by which the turn is found in the transcript too.
// invocation is the turn's own UUID, seq its number in the conversation.
func Marker(invocation string, seq int) string {
	return `<nbs-turn id="` + invocation + `" seq="` + strconv.Itoa(seq) + `"/>`
}
