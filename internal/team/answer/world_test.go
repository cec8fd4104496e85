package answer

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/platform/machine/fake"
	"nbs-worker/internal/platform/tmux"
	"nbs-worker/internal/sim/rig"
	"nbs-worker/internal/store"
	"nbs-worker/internal/store/journal"
	"nbs-worker/internal/store/requests"
	"nbs-worker/internal/store/trust"
	"nbs-worker/internal/team/observe"
)

func TestMain(m *testing.M) {
	if role := rig.Role(); role != nil {
		os.Exit(play(role))
	}
	os.Exit(rig.Tight(fake.OnEach(m)))
}

// world is a project with a running agent alpha, on a machine without tmux.
type world struct {
	*testing.T
	*Answerer
	dir    string
	table  *fake.Machine
	record agent.Record
}

const agentPID = 10

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{T: t, dir: rig.MemoryDir(t), table: fake.New()}
	rig.Must(t, os.Mkdir(w.dir+"/project", 0o700))
	opened, err := store.Create(w.dir + "/project")
	rig.Must(t, err)
	t.Cleanup(func() { _ = opened.Close() })
	opened.Use(trust.NewKeeper(trust.Home(w.dir + "/state")))
	opened.RunIn(w.dir + "/run")
	w.Answerer = New(&observe.Project{
		Machine: w.table.Machine(), Store: opened, Now: time.Now, Began: time.Now(), UID: 1000, Program: "/usr/bin/nbs-worker",
		Tmux: func(string) (*tmux.Client, error) { return nil, fail.Errorf(fail.Unfit, "no tmux") },
		Env:  []string{"HOME=" + w.dir, "CLAUDE_CONFIG_DIR=" + w.dir + "/config"},
	}, nil)
	w.record = w.runs("alpha", agentPID)
	w.runs("beta", agentPID+1)
	w.says("idle", time.Now())
	return w
}

// runs has an agent run.
func (w *world) runs(handle agent.Handle, pid int) agent.Record {
	w.Helper()
	r := agent.Record{
		Spec: agent.Spec{Schema: agent.Schema, Handle: handle, SessionID: agent.NewSessionID(), ProjectRoot: w.project.Store.Project(), ConfigDir: w.dir + "/config"},
		PID:  pid, Started: time.Now().Add(-time.Hour).UTC(), Desired: agent.DesiredRunning,
		Process: &agent.Process{Invocation: agent.NewInvocation()},
	}
	r.Process.Identity = w.table.Add(pid, fake.Process{Args: []string{"claude"}})
	unlock, err := w.project.Store.LockVerb(handle, "spawn", r.Started)
	rig.Must(w, err)
	unlock()
	rig.Must(w, w.project.Store.Insert(w.Context(), r))
	return r
}

// says writes the entry of alpha in Claude's registry.
func (w *world) says(status string, since time.Time) {
	w.Helper()
	path := filepath.Join(w.dir, "config/sessions", fmt.Sprintf("%d.json", agentPID))
	rig.Must(w, os.MkdirAll(filepath.Dir(path), 0o700))
	text := fmt.Sprintf(`{"pid":%d,"sessionId":%q,"cwd":"/","procStart":%q,"kind":"interactive","entrypoint":"cli","status":%q,"waitingFor":"permission prompt","statusUpdatedAt":%d,"updatedAt":%d}`,
		agentPID, w.record.SessionID, w.table.Registered(w.record.Process.Identity), status, since.UnixMilli(), since.UnixMilli())
	rig.Must(w, os.WriteFile(path+".new", []byte(text), 0o600))
	rig.Must(w, os.Rename(path+".new", path))
}

// asks opens a request of alpha, as its hook does.
func (w *world) asks(tool, input string) *requests.Waiting {
	w.Helper()
	return w.asksFor("alpha", tool, input, "")
}

func (w *world) asksFor(handle agent.Handle, tool, input, suggested string) *requests.Waiting {
	w.Helper()
	r := requests.Request{Handle: handle, At: time.Now(), Mode: "default", Tool: tool, Input: json.RawMessage(input)}
	if suggested != "" {
		r.Suggested = json.RawMessage(suggested)
	}
	waiting, err := w.project.Store.Requests().Open(r)
	rig.Must(w, err)
	w.Cleanup(waiting.Close)
	return waiting
}

// takes waits for the answer to a request, and takes it, as the hook does. then is called before it ends.
func (w *world) takes(waiting *requests.Waiting, then func()) (taken chan requests.Answer) {
	taken = make(chan requests.Answer, 1)
	go func() {
		defer close(taken)
		defer waiting.Close()
		for w.Context().Err() == nil {
			a, there, err := waiting.Answer()
			if err != nil {
				return
			}
			if there {
				if then != nil {
					then()
				}
				if waiting.Take(a) == nil {
					taken <- a
				}
				return
			}
			<-time.After(time.Millisecond)
		}
	}()
	return taken
}

// noted returns what the journal says of answers.
func (w *world) noted() (lines []string) {
	w.Helper()
	tail := w.project.Store.Journal().Tail()
	defer tail.Close()
	rig.Must(w, tail.Read(func(e journal.Event) error {
		if e.Event == "answered" {
			lines = append(lines, string(e.Handle)+": "+e.Detail)
		}
		return nil
	}, func() {}))
	return lines
}
