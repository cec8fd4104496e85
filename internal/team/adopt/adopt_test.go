package adopt

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/claude"
	"nbs-worker/internal/claude/turn"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/platform/machine/fake"
	"nbs-worker/internal/platform/tmux"
	"nbs-worker/internal/sim/rig"
	"nbs-worker/internal/store"
	"nbs-worker/internal/team/observe"
)

// Each test runs on a machine like Linux and on one like macOS.
func TestMain(m *testing.M) { os.Exit(rig.Tight(fake.OnEach(m))) }

// world is a machine with claudes that were started by hand, whose configuration is in config.
type world struct {
	*testing.T
	table  *fake.Machine
	o      *observe.Project
	config string
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{T: t, table: fake.New(), config: t.TempDir()}
	w.o = &observe.Project{
		Machine: w.table.Machine(), Store: store.Absent(t.TempDir()), Program: "/usr/bin/nbs-worker", UID: os.Geteuid(), Now: time.Now,
		Env:  []string{claude.ConfigDirVariable + "=" + w.config},
		Tmux: func(string) (*tmux.Client, error) { return nil, fail.Errorf(fail.Unfit, "no tmux here") },
	}
	return w
}

// claude starts a claude in the project with the variables. kind and entry are those of its registry entry; without
// a kind it has none.
func (w *world) claude(pid int, session, kind, entry string, p fake.Process) {
	w.Helper()
	p.Args, p.Folder = append([]string{"claude"}, p.Args...), w.o.Store.Project()
	p.Env = append(p.Env, claude.ConfigDirVariable+"="+w.config)
	id := w.table.Add(pid, p)
	if kind == "" {
		return
	}
	live := fmt.Sprintf(`{"pid":%d,"sessionId":%q,"cwd":%q,"procStart":%q,"startedAt":1771500000000,"kind":%q,"entrypoint":%q,"status":"idle","version":"2.1.332"}`,
		pid, session, p.Folder, w.table.Registered(id), kind, entry)
	rig.Must(w, os.MkdirAll(filepath.Join(w.config, "sessions"), 0o700))
	if w.table.Mac && !slices.Contains(p.Env, forgetful) { // its environment is hidden, so it must have a transcript
		talk := fmt.Sprintf(`{"type":"user","sessionId":%q,"uuid":"1","parentUuid":null,"message":{"role":"user","content":"Hi."}}`, session)
		rig.Must(w, os.MkdirAll(filepath.Join(w.config, "projects/-lab"), 0o700))
		rig.Must(w, os.WriteFile(filepath.Join(w.config, "projects/-lab", session+".jsonl"), []byte(talk+"\n"), 0o600))
	}
	rig.Must(w, os.WriteFile(filepath.Join(w.config, "sessions", fmt.Sprint(pid, ".json")), []byte(live), 0o600))
}

const forgetful = "CLAUDE_CODE_CHILD_SESSION=1"

const session = "4f0c2a53-0d0c-4b43-9e0a-2f6b8f5c9a11"

var flags = []string{"--model", "sonnet", "--permission-mode", "plan"}

func TestWhatIsAdopted(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.claude(10, session, "interactive", "cli", fake.Process{Args: flags})
	r, err := Plan(t.Context(), w.o, Request{Handle: "alpha", PID: 10})
	rig.Must(t, err)
	rig.Check(t, r.SessionID == session && r.Model == "sonnet" && r.PermissionMode == "plan" && r.Process.PID == 10 && r.Process.Adopted != nil,
		"%+v of %+v", r.Spec, r.Process)
}

// What cannot be adopted is refused with the reason, and the list gives the same reason.
func TestWhatIsNotAdopted(t *testing.T) {
	t.Parallel()
	for what, c := range map[string]struct {
		kind, entry string
		p           fake.Process
		code        fail.Kind
		says        string
		onMac       string // where its environment is hidden
		codeOnMac   fail.Kind
	}{
		"at its first dialog":        {"", "", fake.Process{Args: flags}, fail.Held, "is not in Claude's registry", "", 0},
		"a headless one":             {"interactive", "sdk-cli", fake.Process{Args: flags}, fail.BadInput, `entry point "sdk-cli"`, "", 0},
		"one that writes nothing":    {"interactive", "cli", fake.Process{Args: flags, Env: []string{forgetful}}, fail.BadInput, "writes no transcript", "has no transcript", fail.Held},
		"one of a conversation":      {"interactive", "sdk-cli", fake.Process{Args: flags, Env: []string{agent.TurnVariable + "=i", turn.ContextVariable + "="}}, fail.BadInput, "answers a conversation of nbs-worker ask", `entry point "sdk-cli"`, 0},
		"an observer":                {"interactive", "sdk-cli", fake.Process{Args: flags, Env: []string{agent.TurnVariable + "=i"}}, fail.BadInput, "observes an agent for the memory", `entry point "sdk-cli"`, 0},
		"another user's":             {"interactive", "cli", fake.Process{Args: flags, Owner: 4_000_000}, fail.BadInput, "belongs to user id 4000000", "", 0},
		"without a mode or settings": {"interactive", "cli", fake.Process{Args: []string{"--settings", "s.json"}}, fail.BadInput, "the model (--model is not on its command line)", "", 0},
	} {
		w := newWorld(t)
		w.claude(10, session, c.kind, c.entry, c.p)
		_, err := Plan(t.Context(), w.o, Request{Handle: "alpha", PID: 10})
		if c.onMac != "" && w.table.Mac {
			c.says, c.code = c.onMac, cmp.Or(c.codeOnMac, c.code)
		}
		rig.Check(t, fail.KindOf(err) == c.code && strings.Contains(fmt.Sprint(err), c.says), "%s: %v", what, err)
		all, listErr := List(t.Context(), w.o)
		rig.Must(t, listErr)
		switch {
		case c.p.Owner != 0:
			rig.Check(t, len(all) == 0, "%s: listed: %+v", what, all)
		case len(c.p.Args) == len(flags): // what is only incomplete can be adopted
			rig.Check(t, len(all) == 1 && all[0].Obstacle == fmt.Sprint(err), "%s: listed: %+v", what, all)
		}
	}
	w := newWorld(t)
	w.table.Add(20, fake.Process{Args: []string{"sleep", "600"}, Folder: t.TempDir(), Env: []string{"HOME=" + os.Getenv("HOME")}})
	for pid, says := range map[int]string{20: "pid 20 is not a claude", 21: "there is no process 21"} {
		_, err := Plan(t.Context(), w.o, Request{Handle: "alpha", PID: pid})
		rig.Check(t, err != nil && strings.Contains(err.Error(), says), "%v", err)
	}
}

// Two claudes on one conversation: neither is adopted, and the list names the other.
func TestForkedConversationIsNotAdopted(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, pid := range []int{10, 11} {
		w.claude(pid, session, "interactive", "cli", fake.Process{Args: flags})
	}
	_, err := Plan(t.Context(), w.o, Request{Handle: "alpha", PID: 10})
	rig.Check(t, fail.KindOf(err) == fail.Conflict && strings.Contains(err.Error(), "open: pid 11"), "%v", err)
	all, err := List(t.Context(), w.o)
	rig.Must(t, err)
	rig.Check(t, len(all) == 2 && fmt.Sprint(all[0].OpenIn, all[1].OpenIn) == "[11] [10]", "%+v", all)
}

// A claude of a claude's tools is not a session of its own, unless Claude's registry has it.
func TestListedSessions(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.claude(10, session, "interactive", "cli", fake.Process{Args: flags})
	w.claude(11, "", "", "", fake.Process{Parent: 10}) // a child before its exec
	w.claude(12, "", "", "", fake.Process{Parent: 1, Args: flags})
	all, err := List(t.Context(), w.o)
	rig.Must(t, err)
	rig.Check(t, len(all) == 2 && all[0].PID == 10 && all[0].State == "idle" && all[1].PID == 12 && all[1].SessionID == "", "%+v", all)
}
