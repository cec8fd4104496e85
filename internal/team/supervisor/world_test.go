package supervisor

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/platform/machine/fake"
	"nbs-worker/internal/platform/tmux"
	"nbs-worker/internal/sim/rig"
	"nbs-worker/internal/store"
	"nbs-worker/internal/store/trust"
	"nbs-worker/internal/team/launch"
	"nbs-worker/internal/team/observe"
)

func TestMain(m *testing.M) { os.Exit(rig.Tight(fake.OnEach(m))) }

// world is a person's project on a machine without tmux, in which claude is never started.
type world struct {
	*testing.T
	*Supervisor
	dir   string // of the project, Claude's configuration and all else
	table *fake.Machine
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{T: t, dir: rig.MemoryDir(t), table: fake.New()}
	w.table.Add(os.Getpid(), fake.Process{Args: []string{"nbs-worker"}}) // this command
	w.put(w.dir+"/home/x", "")
	w.put(w.dir+"/claude", "#!/bin/sh\nexit 99\n")
	w.must(os.Chmod(w.dir+"/claude", 0o700))
	w.must(os.Mkdir(w.dir+"/project", 0o700))
	opened, err := store.Create(w.dir + "/project")
	w.must(err)
	t.Cleanup(func() { _ = opened.Close() })
	opened.Use(trust.NewKeeper(trust.Home(w.dir + "/state")))
	w.Supervisor = New(&observe.Project{
		Machine: w.table.Machine(),
		Store:   opened, Now: time.Now, Began: time.Now(), UID: 1000, Program: "/usr/bin/nbs-worker",
		Tmux: func(string) (*tmux.Client, error) { return nil, fail.Errorf(fail.Unfit, "no tmux") },
		Env:  []string{"HOME=" + w.dir + "/home", "CLAUDE_CONFIG_DIR=" + w.dir + "/config", "NBS_CLAUDE=" + w.dir + "/claude"},
	}, nil)
	return w
}

func (w *world) must(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

// has puts the record of an agent into the project that was never started, but for a change.
func (w *world) has(handle agent.Handle, change func(*agent.Record)) agent.Record {
	w.Helper()
	r, err := w.newRecord(Spawn{Spec: agent.Spec{Handle: handle, PermissionMode: agent.BypassPermissions}, Start: launch.Start{Prompt: "Remember 42."}})
	w.must(err)
	change(&r)
	unlock, err := w.Project.Store.LockVerb(handle, "spawn", r.Started) // which makes the folders
	w.must(err)
	unlock()
	w.must(w.Project.Store.Insert(w.Context(), r))
	r, err = w.Project.Store.Load(handle) // with its seal
	w.must(err)
	return r
}

func asItIs(*agent.Record) {}

// live has an agent run, with its mark.
func (w *world) live(r *agent.Record) {
	w.Helper()
	r.Process = &agent.Process{Invocation: agent.NewInvocation()}
	r.Process.Identity = w.table.Add(agentPID, fake.Process{Args: []string{"claude"}, Env: []string{agent.InvocationVariable + "=" + string(r.Process.Invocation)}})
	r.PID = agentPID
}

// registers has Claude's registry name the running agent, which takes the place of a mark that is hidden.
func (w *world) registers(r *agent.Record) {
	w.Helper()
	w.put(fmt.Sprintf("%s/config/sessions/%d.json", w.dir, agentPID), fmt.Sprintf(`{"pid":%d,"sessionId":%q,"cwd":"/","procStart":%q,"kind":"interactive","entrypoint":"cli"}`,
		agentPID, r.SessionID, w.table.Registered(r.Process.Identity)))
}

const agentPID = 10

// lives reports whether the agent still runs.
func (w *world) lives() bool {
	_, err := w.Project.Machine.Identify(agentPID)
	return err == nil
}

func (w *world) transcript(id agent.SessionID) string {
	return filepath.Join(w.dir, "config/projects/-lab", string(id)+".jsonl")
}

// talk is a transcript of these turns.
func talk(turns ...int) string {
	var text strings.Builder
	for _, n := range turns {
		parent := "null"
		if n > 0 {
			parent = fmt.Sprintf(`"%08d"`, n-1)
		}
		words := fmt.Sprintf("Remember %d. %s", n, strings.Repeat("x", 1000))
		fmt.Fprintf(&text, `{"type":"user","uuid":"%08d","parentUuid":%s,"message":{"role":"user","content":"%s"}}`+"\n", n, parent, words)
	}
	return text.String()
}

// put puts a file in the place of what is there, as an editor does.
func (w *world) put(path, text string) {
	w.Helper()
	w.must(os.MkdirAll(filepath.Dir(path), 0o700))
	w.must(os.WriteFile(path+".new", []byte(text), 0o600))
	w.must(os.Rename(path+".new", path))
}

func (w *world) read(path string) string {
	w.Helper()
	text, err := os.ReadFile(path)
	w.must(err)
	return string(text)
}

// mustNote checks that the journal has an event.
func (w *world) mustNote(event string, id agent.SessionID) {
	w.Helper()
	text := w.read(w.Project.Store.Folder() + "/journal.jsonl")
	rig.Check(w, strings.Contains(text, `"event":"`+event+`"`) && strings.Contains(text, string(id)), "no %s in the journal: %s", event, text)
}

// mustSay checks an error with its hints; of kind 0 it is that there is none.
func mustSay(t *testing.T, what string, err error, kind fail.Kind, words ...string) {
	t.Helper()
	said := fmt.Sprint(err, "\n", strings.Join(fail.HintsOf(err), "\n"))
	if (err == nil) != (kind == 0) || err != nil && fail.KindOf(err) != kind {
		t.Errorf("%s: kind %d: %s", what, fail.KindOf(err), said)
	}
	for _, word := range words {
		rig.Check(t, strings.Contains(said, word), "%s: %s; want %q", what, said, word)
	}
}
