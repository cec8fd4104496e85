package contract

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/google/uuid"

	"nbs-worker/internal/sim/api"
	"nbs-worker/internal/sim/rig"
)

// streamLine is a line of output of a program that takes many turns.
type streamLine struct {
	Type, Subtype, Result, UUID string
	SessionID                   string `json:"session_id"`
	IsReplay                    bool
	IsError                     bool   `json:"is_error"`
	Status                      int    `json:"api_error_status"`
	NumTurns                    int    `json:"num_turns"`
	OfMessage                   string `json:"user_message_uuid"`
	Denials                     []struct {
		Tool  string                   `json:"tool_name"`
		Input struct{ Command string } `json:"tool_input"`
	} `json:"permission_denials"`
	Errors               []string `json:"errors"`
	Error                string
	TotalUSD             *float64 `json:"total_cost_usd"`
	Event                struct{ Delta struct{ Text string } }
	Content, Description string
	Prevents             bool   `json:"prevent_continuation"`
	TaskID               string `json:"task_id"`
	Patch                struct {
		Ended int64 `json:"end_time"`
	}
	Origin struct{ Kind string }
}

// streaming is a run that takes turns from stdin.
type streaming struct {
	cmd    *exec.Cmd
	stdin  io.WriteCloser
	stdout rig.Output
	stderr bytes.Buffer
	uuids  []string // of what was said
}

var streamArgs = []string{"-p", "--input-format", "stream-json", "--output-format", "stream-json", "--verbose", "--replay-user-messages", "--permission-mode", "default"}

func (s *stage) stream(t *testing.T, args ...string) *streaming {
	t.Helper()
	r := &streaming{cmd: exec.CommandContext(t.Context(), s.path, slices.Concat(streamArgs, args)...)}
	r.cmd.Dir, r.cmd.Env = s.world.Project, s.env
	r.cmd.Stdout, r.cmd.Stderr = &r.stdout, &r.stderr
	var err error
	r.stdin, err = r.cmd.StdinPipe()
	rig.Must(t, errors.Join(err, r.cmd.Start()))
	return r
}

// says writes a turn, when the one before is over: a text, or a content in JSON. 2.1.329 makes one turn of all that waits.
func (r *streaming) says(t *testing.T, content any) {
	t.Helper()
	rig.WaitFor(t, "the turn before is over", func() (bool, string) {
		text := r.stdout.String()
		return strings.Count(text, `"type":"result"`) == len(r.uuids), text
	})
	id := uuid.NewString()
	r.uuids = append(r.uuids, id)
	data, err := json.Marshal(map[string]any{"type": "user", "uuid": id, "message": map[string]any{"role": "user", "content": content}})
	rig.Must(t, err)
	_, _ = r.stdin.Write(append(data, '\n')) // one that has left does not read
}

// ends waits for the end after the last turn, and returns what was said by then.
func (r *streaming) ends(t *testing.T) (lines []streamLine, code int) {
	t.Helper()
	_ = r.stdin.Close()
	err := r.cmd.Wait()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	for text := range strings.Lines(r.stdout.String()) {
		var l streamLine
		if err := json.Unmarshal([]byte(text), &l); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		lines = append(lines, l)
	}
	return lines, r.cmd.ProcessState.ExitCode()
}

// results are the lines that tell of turns.
func results(lines []streamLine) []streamLine {
	return slices.DeleteFunc(slices.Clone(lines), func(l streamLine) bool { return l.Type != "result" })
}

// outline are the kinds of lines that are relied on, in order.
func outline(lines []streamLine) (kinds []string) {
	for _, l := range lines {
		switch {
		case l.Subtype == "init", l.Type == "result", l.Type == "assistant":
			kinds = append(kinds, strings.TrimSuffix(l.Type+" "+l.Subtype, " "))
		case l.IsReplay:
			kinds = append(kinds, "replay")
		}
	}
	return kinds
}

func stream(t *testing.T, s *stage) {
	identity, context := filepath.Join(s.world.Root, "identity"), filepath.Join(s.world.Root, "context")
	rig.Must(t, errors.Join(os.WriteFile(identity, []byte("You are Bubba. Be terse."), 0o600), os.WriteFile(context, []byte("<mark/>\nIt is noon."), 0o600)))
	id := newID()
	r := s.stream(t, "--session-id", id, "--model", "sonnet", "--include-partial-messages", "--system-prompt-file", identity,
		"--settings", fmt.Sprintf(`{"hooks":{"UserPromptSubmit":[{"hooks":[{"type":"command","command":"cat %s"}]}]}}`, context))
	r.says(t, "Remember 42.")
	r.says(t, "What number?") // which waits for the end of the first turn, so that it is registered
	var e entry
	data, err := os.ReadFile(s.registryFile(r.cmd.Process.Pid))
	rig.Must(t, errors.Join(err, json.Unmarshal(data, &e)))
	rig.Check(t, e.Entrypoint == "sdk-cli" && e.SessionID == id, "registry = %+v", e)
	lines, code := r.ends(t)
	if code != 0 || r.stderr.Len() > 0 {
		t.Errorf("code %d, %q", code, r.stderr.String())
	}
	turn := []string{"system init", "replay", "assistant", "result success"}
	if got := outline(lines); !slices.Equal(got, slices.Concat(turn, turn)) {
		t.Errorf("lines: %q", got)
	}
	checkStreamed(t, s, id, r, lines)
	checkContext(t, s, id, r.uuids)
	for _, request := range s.api.Requests() {
		if body := string(request.Body); request.Method == "POST" && !request.Side && (!strings.Contains(body, "You are Bubba.") || !strings.Contains(body, "It is noon.")) {
			t.Errorf("request without identity or context: %s", body)
		}
	}
	if texts := s.asked(t); !slices.Equal(texts, []string{"Remember 42.", "What number?"}) {
		t.Errorf("asked %q", texts)
	}
}

func checkStreamed(t *testing.T, s *stage, id string, r *streaming, lines []streamLine) {
	t.Helper()
	var replayed []string
	var said strings.Builder
	for _, l := range lines {
		if l.SessionID != id {
			t.Errorf("line of session %s: %+v", l.SessionID, l)
		}
		if l.IsReplay {
			replayed = append(replayed, l.UUID)
		}
		said.WriteString(l.Event.Delta.Text)
	}
	if !slices.Equal(replayed, r.uuids) || said.String() != "OK.42." {
		t.Errorf("replayed %q of %q, said in parts %q", replayed, r.uuids, said.String())
	}
	for i, l := range results(lines) {
		if l.Result != []string{"OK.", "42."}[i] || l.IsError || l.NumTurns != 1 || l.TotalUSD == nil || (l.OfMessage == r.uuids[i]) == s.old {
			t.Errorf("result %d = %+v", i, l)
		}
	}
}

// checkContext asserts where the output of a prompt's hook stands: between the text and its answer.
func checkContext(t *testing.T, s *stage, id string, uuids []string) {
	t.Helper()
	data, err := os.ReadFile(s.transcripts(t, id)[0])
	rig.Must(t, err)
	type record struct {
		Type, UUID, ParentUUID string
		Attachment             struct{ Type, HookEvent, Content string }
		Message                struct{ Content json.RawMessage }
	}
	records := map[string]record{}
	for line := range bytes.Lines(data) {
		var r record
		if json.Unmarshal(line, &r) == nil && r.UUID != "" {
			records[r.UUID] = r
		}
	}
	answers := 0
	for _, r := range records {
		if r.Type != "assistant" {
			continue
		}
		answers++
		context := ""
		at := records[r.ParentUUID]
		for ; at.UUID != "" && at.Type != "user"; at = records[at.ParentUUID] {
			if at.Attachment.Type == "hook_success" && at.Attachment.HookEvent == "UserPromptSubmit" {
				context = at.Attachment.Content
			}
		}
		if context != "<mark/>\nIt is noon." || !slices.Contains(uuids, at.UUID) || strings.Contains(string(at.Message.Content), "mark") {
			t.Errorf("context %q of %+v", context, at)
		}
	}
	if answers != 2 {
		t.Errorf("%d answers in %s", answers, data)
	}
}

// A conversation that began with a failed turn is resumed, goes on after more of them, and is copied. A text that begins
// with a slash is a command, unless the slash has a block of its own.
func streamResumed(t *testing.T, s *stage) {
	s.env = append(s.env, "CLAUDE_CODE_MAX_RETRIES=0")
	id := newID()
	printFailed(t, s, id)
	r := s.stream(t, "--resume", id, "--model", "sonnet", "--allowedTools=Read,Bash(mkdir *)")
	r.says(t, "/exit")
	r.says(t, []map[string]string{{"type": "text", "text": "/"}, {"type": "text", "text": "clear"}})
	r.says(t, "[[error 429]]")
	r.says(t, "[[error 500]]")
	r.says(t, `[[tool Bash {"command":"touch REFUSED"}]]`)
	r.says(t, `[[tool Bash {"command":"mkdir PERMITTED"}]]`)
	r.says(t, "What number?")
	lines, code := r.ends(t)
	got := results(lines)
	if code != 0 || len(got) != 7 {
		t.Fatalf("code %d, %+v", code, lines)
	}
	rig.Check(t, got[0].Result == "/exit isn't available in this environment." && got[0].NumTurns == 0, "a command: %+v", got[0])
	rig.Check(t, got[1].Result == "You said: /clear", "no command: %+v", got[1])
	rig.Check(t, got[2].Subtype == "success" && got[2].IsError && got[2].Status == 429 && got[2].SessionID == id, "429: %+v", got[2])
	i := slices.IndexFunc(lines, func(l streamLine) bool { return l.Type == "assistant" && l.Error != "" })
	rig.Check(t, i >= 0 && lines[i].Error == "rate_limit", "429: %+v", lines)
	rig.Check(t, got[3].IsError && got[3].Status == 500, "500: %+v", got[3])
	rig.Check(t, len(got[4].Denials) == 1 && got[4].Denials[0].Tool == "Bash" && got[4].Denials[0].Input.Command == "touch REFUSED" && !got[4].IsError, "a refused tool: %+v", got[4])
	rig.Check(t, len(got[5].Denials) == 0, "a permitted tool: %+v", got[5])
	rig.Check(t, !got[6].IsError && got[6].Result == "42" && got[6].SessionID == id, "after them: %+v", got[6])
	checkCopy(t, s, id)
}

func checkCopy(t *testing.T, s *stage, id string) {
	t.Helper()
	copied := newID()
	r := s.stream(t, "--resume", id, "--fork-session", "--session-id", copied, "--model", "sonnet")
	r.says(t, "What number?")
	r.says(t, "/clear")
	r.says(t, "[[error 429]]")
	lines, code := r.ends(t)
	if got := results(lines); len(got) != 3 || got[0].Result != "42" || got[0].SessionID != copied || got[1].SessionID == copied || code != 1 {
		t.Errorf("a copy, and a failed turn at the end: code %d, %+v", code, got)
	}
	if len(s.transcripts(t, copied)) != 1 || len(s.transcripts(t, id)) != 1 {
		t.Error("a copy has a transcript of its own")
	}
}

func streamRefused(t *testing.T, s *stage) {
	id := newID()
	r := s.stream(t, "--resume", id)
	r.says(t, "hello")
	lines, code := r.ends(t)
	want := "No conversation found with session ID: " + id
	if code != 1 || strings.TrimSpace(r.stderr.String()) != want || len(lines) != 1 || lines[0].Subtype != "error_during_execution" || !lines[0].IsError || !slices.Equal(lines[0].Errors, []string{want}) {
		t.Errorf("unknown: code %d, %+v, %q", code, lines, r.stderr.String())
	}
	s.put(t, id, `{"type":"mode","mode":"normal"}`+"\n")
	r = s.stream(t, "--session-id", id)
	r.says(t, "hello")
	lines, code = r.ends(t)
	if code != 1 || len(lines) != 0 || strings.TrimSpace(r.stderr.String()) != "Error: Session ID "+id+" is already in use." {
		t.Errorf("in use: code %d, %+v, %q", code, lines, r.stderr.String())
	}
}

func streamEnded(t *testing.T, s *stage) {
	r := s.stream(t, "--session-id", newID())
	if lines, code := r.ends(t); code != 0 || len(lines) != 0 {
		t.Errorf("without a turn: code %d, %+v", code, lines)
	}
	r = s.stream(t, "--session-id", newID())
	r.says(t, "[[delay 1h]]")
	rig.WaitFor(t, "the turn is asked", func() (bool, string) {
		return slices.ContainsFunc(s.api.Requests(), func(q api.Request) bool { return q.Method == "POST" }), ""
	})
	rig.Must(t, r.cmd.Process.Signal(syscall.SIGTERM))
	if lines, code := r.ends(t); code != 143 || len(results(lines)) != 0 {
		t.Errorf("TERM: code %d, %+v", code, lines)
	}
}
