package teardown

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/platform/machine"
	"nbs-worker/internal/platform/machine/local"
	"nbs-worker/internal/platform/tmux"
	"nbs-worker/internal/store"
	"nbs-worker/internal/store/storetest"
	"nbs-worker/internal/store/trust"
	"nbs-worker/internal/team/observe"

	"nbs-worker/internal/sim/rig"
)

const claudePID, launcherPID, toolPID, otherPID = 10, 11, 12, 13

// played are made-up processes: the running ones, and what was done to them.
type played struct {
	live   []int
	stays  int         // outlives KILL
	begets map[int]int // what comes of one that is ended
	did    []string
}

func (p *played) Below(*agent.Record) ([]agent.Identity, error) { return nil, nil }

func (p *played) Left(*agent.Record) (left []agent.Identity, err error) {
	for _, pid := range p.live {
		if pid >= toolPID {
			left = append(left, agent.Identity{Identified: agent.Identified{PID: pid}})
		}
	}
	return left, nil
}

func (p *played) Check(id agent.Identity) (machine.Liveness, error) {
	if slices.Contains(p.live, id.PID) {
		return machine.Alive, nil
	}
	return machine.Gone, nil
}

func (p *played) Stop(_ context.Context, _ time.Duration, ids ...agent.Identity) error {
	for _, id := range ids {
		at := slices.Index(p.live, id.PID)
		if at < 0 {
			continue
		}
		p.did = append(p.did, strconv.Itoa(id.PID))
		if id.PID == p.stays {
			return errors.New("it did not end after KILL")
		}
		p.live = slices.Delete(p.live, at, at+1)
		if child := p.begets[id.PID]; child != 0 {
			p.live = append(p.live, child)
		}
	}
	return nil
}

func start() *agent.Record {
	p := &agent.Process{Invocation: "i", Launcher: agent.Identified{PID: launcherPID}, Tmux: &agent.TmuxPlace{}}
	p.PID = claudePID
	return &agent.Record{Process: p}
}

// Claude ends first, so that its launcher can record how. Then what is left ends, and the pane last. If something
// cannot be ended, the end stops there and fails.
func TestWhatIsEndedInWhichOrder(t *testing.T) {
	t.Parallel()
	unchanged, never := func(*agent.Process) {}, func(p *agent.Process) { p.PID = 0 }
	adopted := func(p *agent.Process) { p.Adopted, p.Launcher.PID = &agent.Adoption{}, 0 }
	for what, c := range map[string]struct {
		ps     played
		change func(*agent.Process)
		pane   error
		did    string
		err    string
	}{
		"all of it":                     {played{}, unchanged, nil, "10, 11, 12, pane", ""},
		"a tool that begets":            {played{begets: map[int]int{toolPID: otherPID}}, unchanged, nil, "10, 11, 12, 13, pane", ""},
		"claude begets when it ends":    {played{begets: map[int]int{claudePID: otherPID}}, unchanged, nil, "10, 11, 12, 13, pane", ""},
		"claude that outlives KILL":     {played{stays: claudePID}, unchanged, nil, "10", "end claude: it did not end after KILL"},
		"a launcher that outlives KILL": {played{stays: launcherPID}, unchanged, nil, "10, 11", "end the launcher: "},
		"a tool that outlives KILL":     {played{stays: toolPID}, unchanged, nil, "10, 11, 12", "end what claude's tools left behind: "},
		"tools without end": {
			played{begets: map[int]int{toolPID: otherPID, otherPID: toolPID}}, unchanged, nil, "10, 11, 12, 13, 12, 13, 12, pane", "process 13 is still running",
		},
		"a claude that never ran": {played{}, never, nil, "11, 12, pane", ""},
		"an adopted claude":       {played{}, adopted, nil, "10, 12", ""},
		"one without tmux":        {played{}, func(p *agent.Process) { p.Tmux = nil }, nil, "10, 11, 12", ""},
		"a tmux that is silent": {
			played{}, unchanged, errors.New("silent"), "10, 11, 12, pane", "the agent has ended, but its tmux pane could not be closed: silent",
		},
	} {
		ps, r := c.ps, start()
		ps.live = []int{claudePID, launcherPID, toolPID}
		c.change(r.Process)
		err := endStart(t.Context(), &ps, r, func() error { ps.did = append(ps.did, "pane"); return c.pane })
		if did := strings.Join(ps.did, ", "); did != c.did || !strings.HasPrefix(fmt.Sprint(cmp.Or(err, errors.New(""))), c.err) || (err == nil) != (c.err == "") {
			t.Errorf("%s: %s, %v; want %s, %s", what, did, err, c.did, c.err)
		}
		spared := SparingPane(err) == nil
		rig.Check(t, spared == (c.err == "" || c.pane != nil), "%s: an agent that is to be started anew is kept down: %t", what, !spared)
	}
}

// server is a made-up tmux server.
type server struct {
	panes []tmux.Pane
	keeps bool // what it is told to end
	err   error
}

func (s *server) Panes(context.Context) ([]tmux.Pane, error) { return s.panes, s.err }
func (s *server) ServerPID() (int, error)                    { return 0, errors.New("it is played") }
func (s *server) KillPane(_ context.Context, pane tmux.Pane) error {
	if s.err == nil && !s.keeps {
		s.panes = slices.DeleteFunc(slices.Clone(s.panes), func(p tmux.Pane) bool { return p.ID == pane.ID })
	}
	return s.err
}

// Only the pane that has the mark of the start and is led by its launcher ends. Another window in its session stays,
// and so do a person's program with its mark and another session with its name.
func TestOnlyTheAgentsOwnPaneIsEnded(t *testing.T) {
	t.Parallel()
	own := tmux.Pane{ID: "%1", PID: launcherPID, Invocation: "i", SessionInvocation: "i"}
	persons := []tmux.Pane{{ID: "%2", PID: 20, SessionInvocation: "i"}, {ID: "%3", PID: 21, Invocation: "i"}, {ID: "%4", PID: 22, Session: "nbs-alpha-live"}}
	for what, c := range map[string]struct {
		server server
		left   int
		err    string
	}{
		"its pane":                 {server{panes: append(persons, own)}, 3, "<nil>"},
		"it has gone":              {server{panes: persons}, 3, "<nil>"},
		"a pane that does not end": {server{panes: []tmux.Pane{own}, keeps: true}, 1, "it still exists"},
		"a server that is silent":  {server{panes: []tmux.Pane{own}, err: errors.New("silent")}, 1, "silent"},
	} {
		err := teardown{&observe.Project{Machine: local.New()}}.endPane(t.Context(), &c.server, c.server.panes, start())
		rig.Check(t, fmt.Sprint(err) == c.err && len(c.server.panes) == c.left, "%s: %v, and %+v is left", what, err, c.server.panes)
	}
}

// If a start has no recorded launcher yet, its processes are ended without tmux, and a late launcher finds no launch
// file.
func TestStartThatHasNotArrived(t *testing.T) {
	t.Parallel()
	opened, err := store.Create(storetest.MemoryProject(t))
	rig.Must(t, err)
	t.Cleanup(func() { _ = opened.Close() })
	self, err := local.New().Self()
	rig.Must(t, err)
	self.Identified = agent.Identified{}
	r := agent.Record{Spec: agent.Spec{Handle: "alpha", ProjectRoot: opened.Project()}, Process: &agent.Process{
		Invocation: agent.NewInvocation(), Identity: self, Tmux: &agent.TmuxPlace{Path: "/tmp/s"},
	}}
	opened.UseHome(trust.Home(rig.MemoryDir(t)))
	unlock, err := opened.LockVerb("alpha", "spawn", time.Now()) // which makes the folders
	rig.Must(t, err)
	defer unlock()
	rig.Must(t, opened.PutLaunch("alpha", store.Launch{Invocation: r.Process.Invocation}))
	cmd := exec.Command("cat")
	cmd.Env = append(os.Environ(), agent.InvocationVariable+"="+string(r.Process.Invocation))
	child := rig.StartChild(t, cmd)
	id, err := local.New().Identify(child.Process.Pid)
	rig.Must(t, err)
	o := &observe.Project{Machine: local.New(), Store: opened, Tmux: func(string) (*tmux.Client, error) { return nil, fail.Errorf(fail.TimedOut, "silent") }}
	err = End(t.Context(), o, r)
	_, late := opened.TakeLaunch("alpha", r.Process.Invocation)
	rig.Check(t, err == nil && !local.New().IsAlive(id) && errors.Is(late, agent.ErrSuperseded), "%v; alive: %t; a late launcher: %v", err, local.New().IsAlive(id), late)
}
