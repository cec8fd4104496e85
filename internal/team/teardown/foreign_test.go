package teardown

import (
	"context"
	"os"
	"testing"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/platform/machine/fake"
	"nbs-worker/internal/platform/tmux"
	"nbs-worker/internal/sim/rig"
	"nbs-worker/internal/store"
	"nbs-worker/internal/store/trust"
	"nbs-worker/internal/team/observe"
)

// Each test runs on a machine like Linux and on one like macOS.
func TestMain(m *testing.M) { os.Exit(rig.Tight(fake.OnEach(m))) }

const (
	serverPID = 2
	started   = "00000000-0000-4000-8000-000000000001"
)

// mark is the environment of a process of the start.
func mark(more ...string) []string {
	return append([]string{agent.InvocationVariable + "=" + started, agent.HandleVariable + "=alpha"}, more...)
}

// world returns a machine with a running agent alpha, its record, and the project.
func world(t *testing.T) (*fake.Machine, *observe.Project, agent.Record) {
	t.Helper()
	table := fake.New()
	project := t.TempDir()
	table.AddServer(serverPID, fake.Process{})
	launcher := table.Add(launcherPID, fake.Process{
		Parent: serverPID, Args: []string{"nbs-worker", "run", "alpha"}, Program: "/usr/bin/nbs-worker", Folder: project,
		Env: []string{agent.LaunchVariable + "=" + started}, Group: launcherPID, Session: launcherPID,
	})
	own := table.Add(claudePID, fake.Process{Parent: launcherPID, Args: []string{"claude"}, Folder: project, Env: mark()})
	o := &observe.Project{
		Machine: table.Machine(), Store: store.Absent(project), Program: "/usr/bin/nbs-worker",
		Tmux: func(string) (*tmux.Client, error) { return nil, fail.Errorf(fail.Unfit, "no tmux here") },
	}
	r := agent.Record{
		Spec:    agent.Spec{Schema: agent.Schema, Handle: "alpha", SessionID: agent.NewSessionID(), ProjectRoot: project, Cwd: project},
		Process: &agent.Process{Invocation: started, Identity: own, Launcher: launcher.Identified},
	}
	return table, o, r
}

// What an agent started belongs to it, wherever it is now. What only looks like that gets no signal.
func TestOnlyTheAgentsProcessesAreSignalled(t *testing.T) {
	t.Parallel()
	table, o, r := world(t)
	beta, others := []string{"/usr/bin/nbs-worker", "run", "beta"}, []string{agent.InvocationVariable + "=other", agent.HandleVariable + "=beta"}
	for pid, p := range map[int]fake.Process{
		20: {Parent: claudePID, Env: mark()},                        // a tool
		21: {Parent: 20, Env: nil},                                  // a tool that has cleared its environment
		22: {Parent: 1, Env: mark()},                                // left behind
		23: {Parent: 1, Session: launcherPID},                       // left behind in its session, and without a mark that can be seen
		24: {Parent: 70, Session: launcherPID, Group: claudePID},    // a person's, beside claude in a pipeline
		30: {Parent: 20, Args: beta, Program: beta[0], Env: others}, // an agent that it started
		32: {Parent: 30, Args: []string{"claude"}, Env: others},
		31: {Parent: 1, Env: append(mark()[:1:1], agent.HandleVariable+"=beta")},     // the same start under another name
		41: {Parent: 40, Env: mark()},                                                // a person's pane there
		50: {Parent: 1, Args: []string{"claude", "daemon", "--origin"}, Env: mark()}, // Claude's background
		51: {Parent: 50, Env: mark()},
		60: {Parent: 1, Env: mark(), Owner: 4_000_000}, // of another user
		70: {Parent: 1},                                // a person's
	} {
		table.Add(pid, p)
	}
	table.AddServer(40, fake.Process{Parent: 1, Env: mark()}) // which its shell started
	rig.Must(t, End(t.Context(), o, r))
	left, foreign := 22, 23 // known by its mark; known by its session
	if table.Mac {
		left, foreign = foreign, left
	}
	for _, pid := range []int{launcherPID, claudePID, 20, 21, left} {
		rig.Check(t, len(table.Signals(pid)) > 0, "process %d was left", pid)
	}
	for _, pid := range []int{serverPID, foreign, 24, 30, 31, 32, 40, 41, 50, 51, 60, 70} {
		rig.Check(t, len(table.Signals(pid)) == 0, "process %d got %v", pid, table.Signals(pid))
	}
}

// A pid proves nothing: the process that has it now must have the identity and the mark of the start.
func TestProcessWithoutTheMarkIsNotSignalled(t *testing.T) {
	t.Parallel()
	elsewhere := mark()
	elsewhere[1] = agent.HandleVariable + "=beta"
	for what, c := range map[string]struct {
		now     fake.Process
		refused bool
		onMac   bool // where its environment is hidden
	}{
		"another process has its pid":          {fake.Process{Birth: 7, Parent: 1}, false, false},
		"no mark, and another parent":          {fake.Process{Parent: 1}, true, true},
		"the mark of another start":            {fake.Process{Parent: 1, Env: []string{agent.InvocationVariable + "=other"}}, true, true},
		"the mark of another agent":            {fake.Process{Parent: launcherPID, Env: elsewhere}, true, false},
		"no mark, as below a user's wrapper":   {fake.Process{Parent: launcherPID}, false, false},
		"the mark, and the launcher has ended": {fake.Process{Parent: 1, Env: mark()}, false, true},
	} {
		table, o, r := world(t)
		table.Add(claudePID, c.now)
		if table.Mac {
			c.refused = c.onMac
		}
		err := End(t.Context(), o, r)
		signalled := len(table.Signals(claudePID)) > 0
		rig.Check(t, (fail.KindOf(err) == fail.Conflict) == c.refused && (err != nil) == c.refused, "%s: %v", what, err)
		rig.Check(t, signalled == (!c.refused && c.now.Birth == 0), "%s: it got %v", what, table.Signals(claudePID))
		rig.Check(t, !c.refused || len(table.Signals(launcherPID)) == 0, "%s: its launcher got %v", what, table.Signals(launcherPID))
	}
}

// A record that was copied with its project names the processes of the original.
func TestCopiedRecordEndsNothingOfTheOriginal(t *testing.T) {
	t.Parallel()
	table, o, r := world(t)
	original := rig.MemoryDir(t)
	opened, err := store.Create(original)
	rig.Must(t, err)
	t.Cleanup(func() { _ = opened.Close() })
	opened.Use(trust.NewKeeper(trust.Home(rig.MemoryDir(t))))
	unlock, err := opened.LockVerb("alpha", "spawn", r.Started)
	rig.Must(t, err)
	unlock()
	rig.Must(t, opened.Insert(t.Context(), r))
	launched := fake.Process{Parent: serverPID, Args: []string{"nbs-worker", "run", "alpha"}, Program: "/usr/bin/nbs-worker", Folder: original}
	launched.Env = []string{agent.LaunchVariable + "=" + started}
	table.Add(launcherPID, launched)
	table.Add(claudePID, fake.Process{Parent: launcherPID, Args: []string{"claude"}, Env: mark(agent.RootVariable + "=" + original)})
	err = End(context.WithoutCancel(t.Context()), o, r)
	rig.Check(t, fail.KindOf(err) == fail.Conflict && len(table.Signals(claudePID)) == 0, "%v; claude got %v", err, table.Signals(claudePID))
}
