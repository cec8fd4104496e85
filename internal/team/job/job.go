// Package job runs an agent as the main process of a job: of Slurm, of Kubernetes, or of another scheduler.
//
//   - The scheduler runs one job of a name at a time. The same job therefore has ended wherever it ran before, also on
//     a machine that cannot be asked. A start that is not known to have been that job's is never taken for ended.
//   - The agent runs in a tmux server of its own, which ends with the job.
//   - A request to leave stops the agent as the verb stop does, so that its conversation is complete. The next start of
//     the job resumes it.
//   - What the agent's launcher decides after an end of claude holds. If the launcher itself was killed, the agent is
//     resumed.
package job

import (
	"context"
	"os"
	"path/filepath"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/platform/machine/portable"
	"nbs-worker/internal/platform/tmux"
	"nbs-worker/internal/team/launch"
	"nbs-worker/internal/team/supervisor"
	"nbs-worker/internal/team/wait"
)

// Job is a job of a scheduler.
type Job struct {
	Supervisor *supervisor.Supervisor
	Name       string // unique among the jobs that run, as agent.CheckJob wants it

	Start    launch.Start                  // how the agent is started
	Started  func(supervisor.Started)      // called after each start
	Say      func(format string, a ...any) // tells what a person has to know
	maxKills int                           // of launchers; 0: the usual number
}

// codeTerminated is the exit code of a job that was asked to leave: 128 plus the number of SIGTERM.
const codeTerminated = 143

// Run brings the agent back into its conversation, and returns when it has ended: claude's exit code, or 0 if it was
// stopped or dismissed.
func (j Job) Run(ctx context.Context, handle agent.Handle) (code int, err error) {
	if err := agent.CheckJob(j.Name); err != nil {
		return 0, err
	}
	if _, err := j.Supervisor.Project.Store.Load(handle); err != nil {
		return 0, err
	}
	dir, err := os.MkdirTemp(tmux.ShortTemp(), "nbs-job-")
	if err != nil {
		return 0, err
	}
	defer func() { _ = os.RemoveAll(dir) }() // a temporary folder
	j.Supervisor.Project.Socket = filepath.Join(dir, "tmux")
	server, err := j.Supervisor.Project.Tmux(j.Supervisor.Project.Socket)
	if err != nil {
		return 0, err
	}
	portable.AdoptOrphans() // the tmux server stays below this process, where the scheduler finds it
	defer func() { _ = server.KillServer(context.WithoutCancel(ctx)) }()
	const usual = 5
	j.maxKills = usual
	return j.loop(ctx, handle)
}

func (j Job) loop(ctx context.Context, handle agent.Handle) (code int, err error) {
	for kills := 0; ; kills++ {
		if err := j.begin(ctx, handle); err != nil {
			return 0, err
		}
		wanted := wait.Wanted{Handles: []agent.Handle{handle}, For: []wait.Condition{wait.Gone()}}
		_, err := wait.For(ctx, j.Supervisor.Inspector, wanted)
		if ctx.Err() != nil {
			_, err := j.Supervisor.Stop(context.WithoutCancel(ctx), handle)
			return codeTerminated, err
		}
		if err != nil {
			return 0, err
		}
		code, killed, err := j.outcome(handle)
		if !killed || err != nil {
			return code, err
		}
		if kills == j.maxKills {
			return 0, fail.Errorf(fail.Failed, "the launcher of the agent was killed %d times", kills+1)
		}
		j.Say("%s: its launcher was killed; resuming it", handle)
	}
}

// begin starts the agent. A start that waits for a person, or takes long, goes on.
func (j Job) begin(ctx context.Context, handle agent.Handle) error {
	if err := j.noteEnded(ctx, handle); err != nil {
		return err
	}
	start := j.Start
	start.Job = j.Name
	started, err := j.Supervisor.Resume(ctx, handle, supervisor.Resume{Start: start})
	j.Started(started)
	switch fail.KindOf(err) {
	case fail.Held, fail.TimedOut, fail.Interrupted:
		j.Say("%s: %v", handle, err)
		return nil
	default:
		return err
	}
}

// noteEnded records the end of an earlier start of this job on another machine. The scheduler has ended it, or has
// given that machine up.
func (j Job) noteEnded(ctx context.Context, handle agent.Handle) error {
	project := j.Supervisor.Project
	r, err := project.Store.Load(handle)
	if err != nil || !j.ranElsewhere(&r) {
		return err
	}
	if err := project.Store.CheckSeal(&r); err != nil { // whoever writes a record must not end a start by it
		return err
	}
	detail := "its job has begun again; it ran on host " + r.Process.Host
	r, err = project.Store.Update(ctx, handle, func(r *agent.Record) error {
		if !j.ranElsewhere(r) {
			return nil
		}
		r.AddExit(agent.Exit{At: project.Seconds(), Invocation: r.Process.Invocation, Code: -1, Cause: agent.LostTmux, Detail: detail})
		return nil
	})
	if err != nil {
		return err
	}
	return project.Note(ctx, "exit", &r, detail)
}

func (j Job) ranElsewhere(r *agent.Record) bool {
	return r.Process != nil && r.Process.Job == j.Name && j.Supervisor.Project.IsForeign(r) && r.ExitOf(r.Process.Invocation) == nil
}

// outcome returns claude's exit code. killed is true if the launcher did not live to record the end.
func (j Job) outcome(handle agent.Handle) (code int, killed bool, err error) {
	r, err := j.Supervisor.Project.Store.Load(handle)
	switch {
	case fail.KindOf(err) == fail.NotFound: // it was dismissed
		return 0, false, nil
	case err != nil:
		return 0, false, err
	case r.Desired == agent.DesiredStopped || r.Process == nil:
		return 0, false, nil
	}
	exit := r.ExitOf(r.Process.Invocation)
	if exit == nil || !exit.Seen() {
		return 0, true, nil
	}
	if exit.Error != "" {
		return 0, false, fail.Errorf(fail.Failed, "%s", exit.Error)
	}
	if exit.Code < 0 {
		return 1, false, nil
	}
	return exit.Code, false, nil
}
