package compose

import (
	"context"
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
	"nbs-worker/internal/store/trust"
	"nbs-worker/internal/team/launch"
	"nbs-worker/internal/team/observe"
	"nbs-worker/internal/team/supervisor"
	"nbs-worker/internal/team/teamfile"
)

// teamWith returns a team whose one agent runs since then, and no source reports on it. The zero time: it does not run.
func teamWith(t *testing.T, since time.Time) *Team {
	t.Helper()
	dir, table := t.TempDir(), fake.New()
	table.Add(os.Getpid(), fake.Process{Args: []string{"nbs-worker"}})
	project := filepath.Join(dir, "project")
	rig.Must(t, os.Mkdir(project, 0o700))
	opened, err := store.Create(project)
	rig.Must(t, err)
	t.Cleanup(func() { _ = opened.Close() })
	opened.Use(trust.NewKeeper(trust.Home(filepath.Join(dir, "state"))))
	r := agent.Record{Spec: agent.Spec{Handle: "alpha", SessionID: agent.NewSessionID(), PermissionMode: agent.BypassPermissions, ProjectRoot: project}}
	r.Schema, r.Desired, r.TmuxSession, r.Created, r.Started = agent.Schema, agent.DesiredRunning, "nbs-alpha-live", since, since
	if !since.IsZero() {
		r.PID, r.Process = 10, &agent.Process{Invocation: agent.NewInvocation()}
		r.Process.Identity = table.Add(10, fake.Process{Args: []string{"claude"}, Env: []string{agent.InvocationVariable + "=" + string(r.Process.Invocation)}})
	}
	unlock, err := opened.LockVerb("alpha", "spawn", since) // which makes the folders
	rig.Must(t, err)
	unlock()
	rig.Must(t, opened.Insert(t.Context(), r))
	s := supervisor.New(&observe.Project{
		Machine: table.Machine(), Store: opened, Now: time.Now, Began: time.Now(), UID: os.Geteuid(), Program: "/usr/bin/nbs-worker",
		Tmux: func(string) (*tmux.Client, error) { return nil, fail.Errorf(fail.Unfit, "no tmux") },
		Env:  []string{"HOME=" + dir, "CLAUDE_CONFIG_DIR=" + filepath.Join(dir, "config"), "NBS_CLAUDE=" + filepath.Join(dir, "no-claude")},
	}, nil)
	return &Team{Supervisor: s, Home: &Home{Project: project, Mode: agent.BypassPermissions}}
}

// A claude that hangs at its start, or waits at a dialog that is not known, must not hold up the rest of the team.
func TestUpDoesNotWaitForEverForAnAgentThatStarts(t *testing.T) {
	t.Parallel()
	const starts = 30 * time.Second // for as long a claude on which no source reports counts as starting
	team := teamWith(t, time.Now().Add(500*time.Millisecond-starts))
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	step := &Step{Agent: &teamfile.Agent{Handle: "alpha"}, Action: Resume}
	started, err := team.Start(ctx, step, launch.Start{Wait: 2 * time.Second})
	rig.Check(t, ctx.Err() == nil && err == nil, "it waits for ever: %v", err)
	rig.Equal(t, started.Record.Handle, "", "what up has started of an agent that runs by then")
}

// up may wait for an hour for what an agent depends on, and restart --rolling for many others.
func TestAnAgentThatIsStoppedAfterThePlanStaysStopped(t *testing.T) {
	t.Parallel()
	team := teamWith(t, time.Time{})
	_, err := team.Project.Store.Update(t.Context(), "alpha", func(r *agent.Record) error {
		r.Desired = agent.DesiredStopped
		return nil
	})
	rig.Must(t, err)
	for what, start := range map[string]func(context.Context, *Step, launch.Start) (supervisor.Started, error){"up": team.Start, "restart": team.Again} {
		for wasStopped, kind := range map[bool]fail.Kind{false: fail.Conflict, true: fail.Unfit} { // there is no claude
			step := &Step{Agent: &teamfile.Agent{Handle: "alpha"}, Action: Resume, wasStopped: wasStopped}
			_, err := start(t.Context(), step, launch.Start{Wait: time.Second})
			rig.Check(t, fail.KindOf(err) == kind, "%s of one that was stopped before, %t: %v", what, wasStopped, err)
		}
	}
}
