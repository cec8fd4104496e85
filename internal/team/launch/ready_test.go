package launch

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/claude"
	"nbs-worker/internal/claude/live"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/platform/tmux"
	"nbs-worker/internal/team/keep"
	"nbs-worker/internal/team/observe"

	"nbs-worker/internal/platform/machine/local"
	"nbs-worker/internal/sim/rig"
	"nbs-worker/internal/store"
)

// A claude that waits for a person as soon as it is ready writes its transcript later: for
// so long nothing is said of its prompt, neither that it has it nor that it has not.
func TestPromptOfAClaudeThatWaitsAtOnce(t *testing.T) {
	t.Parallel()
	dir := t.TempDir() // which cannot be made in a bubble
	synctest.Test(t, func(t *testing.T) {
		w := startingIn(t, dir)
		looks := func(status string, done, held bool) {
			t.Helper()
			got, err := w.prompted(t.Context(), live.Entry{Status: status, WaitingFor: "permission prompt"})
			if got != done || (fail.KindOf(err) == fail.Held) != held || !held && err != nil {
				t.Errorf("%s: done %t, %v; want done %t, held %t", status, got, err, done, held)
			}
		}
		looks("waiting", false, false)
		<-time.After(transcriptLag - 1)
		looks("waiting", false, false)
		looks("busy", false, false) // somebody has answered, and what it asks next is asked anew
		<-time.After(transcriptLag)
		looks("waiting", false, false)
		<-time.After(transcriptLag)
		looks("waiting", false, true)
		w.says(t, dir, "assistant") // a line of what was there before it
		looks("waiting", false, true)
		w.plan.transcriptSize = 0
		looks("waiting", true, false)
	})
}

// A start that could not look for its transcript does not say that the prompt is not in it.
func TestStartThatCannotReadTranscripts(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	w := startingIn(t, dir)
	rig.Must(t, os.Mkdir(filepath.Join(dir, "projects"), 0o700))
	loop := filepath.Join(dir, "projects", "-loop")
	rig.Must(t, os.Symlink("-loop", loop))
	w.ready, w.limit = true, time.Second
	timedOut := func(want string) {
		t.Helper()
		_, err := w.prompted(t.Context(), live.Entry{Status: "idle"})
		rig.Must(t, err)
		rig.Check(t, strings.Contains(w.timedOut(t.Context()).Error(), want), "%v; want %q", w.timedOut(t.Context()), want)
	}
	timedOut("after 1s it is still unknown whether it has the prompt: ")
	rig.Must(t, os.Remove(loop))
	timedOut("the prompt was not in its transcript after 1s")
}

// startingIn is a start with a prompt, of a claude that has its configuration in dir.
func startingIn(t *testing.T, dir string) *starting {
	t.Helper()
	config, err := claude.ConfigAt(dir)
	rig.Must(t, err)
	project := &observe.Project{Machine: local.New(), Store: store.Absent(dir), Now: time.Now, Tmux: func(string) (*tmux.Client, error) { return nil, errors.New("no tmux") }}
	s := Starter{Project: project, Keeper: &keep.Keeper{Project: project}}
	return &starting{
		Starter: s, record: agent.Record{Spec: agent.Spec{Handle: "alpha", SessionID: agent.NewSessionID()}},
		plan: Plan{Start: Start{Prompt: "hello"}, config: config, transcriptSize: 1 << 20},
	}
}

// says writes a line into the transcript of a start.
func (w *starting) says(t *testing.T, dir, who string) {
	t.Helper()
	folder := filepath.Join(dir, "projects", "-lab")
	rig.Must(t, os.MkdirAll(folder, 0o700))
	line := fmt.Sprintf(`{"type":%q,"uuid":"1","sessionId":%q,"message":{"role":%[1]q,"content":"hello"}}`+"\n", who, w.record.SessionID)
	rig.Must(t, os.WriteFile(filepath.Join(folder, string(w.record.SessionID)+".jsonl"), []byte(line), 0o600))
}
