package turn

import (
	"encoding/json"
	"slices"
	"strconv"

	"github.com/google/uuid"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/claude"
	"nbs-worker/internal/claude/cmdline"
)

// Spec is the input for the start of a claude for turns.
type Spec struct {
	SessionID        agent.SessionID
	Opening          cmdline.Opening      // how SessionID is opened; ignored for a fork
	Fork             agent.SessionID      // go on with a copy of this conversation, under SessionID; "": none
	Model            agent.Model          // "": Claude's default, or the conversation's last
	PermissionMode   agent.PermissionMode // "": as the user's own settings say
	SystemPromptFile string               // absolute path of a private file; "": Claude's own prompt. At every turn: see [Args]
	Settings         string               // of [Settings]
	Partial          bool                 // report the answer while it is being written
	Extra            []string             // the user's own arguments
}

// Args are claude's arguments, without the program. The system prompt is given at every start:
// 2.1.197 forgets it at a resume without it, and 2.1.329 when the conversation was compacted.
func Args(spec Spec) []string {
	args := []string{
		"-p", "--input-format", "stream-json", "--output-format", "stream-json", "--verbose", "--replay-user-messages",
	}
	if spec.Fork != "" {
		args = append(args, string(cmdline.OpenResume), string(spec.Fork), "--fork-session", string(cmdline.OpenNew), string(spec.SessionID))
	} else {
		args = append(args, string(spec.Opening), string(spec.SessionID))
	}
	for _, option := range []struct{ name, value string }{
		{"--model", string(spec.Model)},
		{"--permission-mode", string(spec.PermissionMode)},
		{"--system-prompt-file", spec.SystemPromptFile},
		{"--settings", spec.Settings},
	} {
		if option.value != "" {
			args = append(args, option.name, option.value)
		}
	}
	if spec.Partial {
		args = append(args, partial)
	}
	return append(args, spec.Extra...)
}

const (
	fixed   = 7 // arguments with which each turn begins
	partial = "--include-partial-messages"
)

// ContextVariable names the private file with the context of the next turn.
const ContextVariable = "NBS_TURN_CONTEXT"

// EagerFlush makes claude write its transcript before it asks the API and before it answers, not up to 0.1 s later.
// It is not documented; 2.1.197 and 2.1.329 know it.
const EagerFlush = "CLAUDE_CODE_EAGER_FLUSH"

const hookTimeout = 10 // seconds; claude goes on without

// Settings returns the value of --settings: rules that close folders to the turn and, with context, the hook whose
// output brings the context to the model beside the user's words. The hook's command always exits with 0, because any
// other code would fail the turn.
func Settings(closed claude.Closed, context bool) string {
	const command = `cat "$` + ContextVariable + `" 2>/dev/null || :`
	type hook struct {
		Type    string `json:"type"`
		Command string `json:"command"`
		Timeout int    `json:"timeout"`
	}
	type group struct {
		Hooks []hook `json:"hooks"`
	}
	settings := struct {
		Hooks       map[string][]group `json:"hooks,omitempty"`
		Permissions claude.Permissions `json:"permissions"`
	}{Permissions: closed.Rules()}
	if context {
		settings.Hooks = map[string][]group{"UserPromptSubmit": {{Hooks: []hook{{"command", command, hookTimeout}}}}}
	}
	text, _ := json.Marshal(settings) // of strings and numbers: it cannot fail
	return string(text)
}

// Extra returns the arguments of a turn that are not ours, with the permission mode: it leaves out the others that
// [Args] sets. ok is false for a command line of any other shape, or with unknown settings.
func Extra(args, known []string) (extra []string, ok bool) {
	rest, isTurn := cutPrefix(args, Args(Spec{})[:fixed])
	if !isTurn {
		return nil, false
	}
	if after, forks := cutOption(rest, string(cmdline.OpenResume)); len(after) > 1 && forks != "" && after[0] == "--fork-session" {
		rest = after[1:]
	}
	for _, opening := range []cmdline.Opening{cmdline.OpenNew, cmdline.OpenResume} {
		rest, _ = cutOption(rest, string(opening))
	}
	rest, _ = cutOption(rest, "--model")
	rest, mode := cutOption(rest, "--permission-mode")
	rest, _ = cutOption(rest, "--system-prompt-file")
	rest, settings := cutOption(rest, "--settings")
	rest, _ = cutPrefix(rest, []string{partial})
	if mode != "" {
		rest = append([]string{"--permission-mode", mode}, rest...)
	}
	return rest, slices.Contains(known, settings)
}

func cutPrefix(args, prefix []string) (rest []string, found bool) {
	if len(args) < len(prefix) || !slices.Equal(args[:len(prefix)], prefix) {
		return args, false
	}
	return args[len(prefix):], true
}

// cutOption removes an option and its value from the beginning of a command line.
func cutOption(args []string, name string) (rest []string, value string) {
	if len(args) < 2 || args[0] != name {
		return args, ""
	}
	return args[2:], args[1]
}

// Continue is sent to go on with a turn whose text is already in the conversation: the text must not be sent a second
// time.
const Continue = "Please answer the message above; it has had no answer yet."

// TextID returns the id of a turn's text in the transcript, a UUID. invocation is the turn's own, seq its number in
// the conversation.
func TextID(invocation string, seq int) string {
	return uuid.NewSHA1(uuid.NameSpaceURL, []byte(Marker(invocation, seq))).String()
}

// Marker returns the first line of a turn's context, by which the turn is found in the transcript too.
// invocation is the turn's own UUID, seq its number in the conversation.
func Marker(invocation string, seq int) string {
	return `<nbs-turn id="` + invocation + `" seq="` + strconv.Itoa(seq) + `"/>`
}
