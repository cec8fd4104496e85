package observe

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strings"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
	"nbs-worker/internal/platform/export"
	"nbs-worker/internal/platform/machine"
	"nbs-worker/internal/platform/slurm"
)

// Job is what Slurm says of the job in which an agent was started last. A start that a command of the user's has recorded
// is in the queue from before its record until after its end.
type Job struct {
	slurm.Job             // that runs or, if none runs, that waits; never zero in a Sight
	All       []slurm.Job // of this name, also those that wait for this one to end
	Err       error       // why Slurm did not say; nil: it did
}

// isOver reports whether Slurm knows no job of this name any more.
func (j *Job) isOver() bool { return j != nil && j.Err == nil && j.ID == "" }

// isQueued reports whether a job of this name is to begin, and none runs.
func (j *Job) isQueued() bool { return j != nil && j.Err == nil && j.Waits() }

// Word describes the job in a few words.
func (j *Job) Word() string {
	if j.Err != nil {
		return "unreachable"
	}
	return j.String()
}

// InSlurm reports whether an agent may be in a job of Slurm, or in its queue.
func InSlurm(r *agent.Record) bool {
	_, _, is := slurmJob(r)
	return is
}

// NoteSlurmJob notes the name of the job that was written for an agent, so that a look finds it in the queue before it
// begins for the first time. If that fails, it is found when it has begun.
func (o *Project) NoteSlurmJob(r *agent.Record, name string) {
	if r.SlurmJob == name {
		return
	}
	_, _ = o.Store.Update(context.Background(), r.Handle, func(r *agent.Record) error {
		r.SlurmJob = name
		return nil
	})
}

// slurmJob returns the job of Slurm of an agent's last start, which is recorded as slurm/CLUSTER/NAME. If that start was in
// no job, and has ended, the job is the one that was written for the agent, in whichever cluster.
func slurmJob(r *agent.Record) (cluster, name string, is bool) {
	if r.Process == nil {
		return "", "", false
	}
	if rest, is := strings.CutPrefix(r.Process.Job, "slurm/"); is {
		return strings.Cut(rest, "/")
	}
	own := export.JobName(r.ProjectRoot, r.Handle) // no seal covers SlurmJob: it must not name another job of the user's
	return "", own, r.SlurmJob == own && agent.CheckJob(own) == nil && r.ExitOf(r.Process.Invocation) != nil
}

// noteJobOver records the end of a start whose job Slurm does not have any more. The user's seal must vouch for the job.
func (o *Project) noteJobOver(ctx context.Context, a *subject) {
	e := &a.evidence
	if e.Claude != machine.Foreign || !e.Job.isOver() || a.record.ExitOf(a.record.Process.Invocation) != nil || o.Store.CheckSeal(&a.record) != nil {
		return
	}
	o.noteEnd(ctx, a, agent.LostTmux, jobEnded, func(r *agent.Record) bool { return r.ExitOf(r.Process.Invocation) == nil })
}

const jobEnded = "its job has ended"

// foreign says where an agent runs that cannot be seen from here.
func foreign(p *agent.Process) string {
	if p.Job != "" {
		return fmt.Sprintf("it runs on host %s, in the job %s", human.Quote(p.Host), p.Job)
	}
	return fmt.Sprintf("it runs on host %s, or in another pid namespace", human.Quote(p.Host))
}

// elsewhere judges an agent that cannot be seen from here, by what Slurm says of its job, and by what its hooks have written
// into the project.
func (e *Evidence) elsewhere(r *agent.Record) agent.Status {
	status := agent.Status{State: agent.Unknown, Source: agent.FromRecord, Detail: foreign(r.Process)}
	switch j := e.Job; {
	case j == nil:
	case j.Err != nil:
		status.Detail += "; " + j.Err.Error()
	case j.isOver():
		return agent.Status{State: agent.Dead, Cause: agent.LostTmux, Source: agent.FromProcess, Detail: jobEnded}
	case !j.Runs():
		status.Detail = j.String()
	case !isNode(r.Process.Host, j.Node): // what its hooks have reported is of an earlier start
		status.Detail = j.String() + "; its last start was on host " + human.Quote(r.Process.Host)
	case r.Process.PID == 0:
		return agent.Status{State: agent.Starting, Source: agent.FromRecord}
	default:
		if said, known := e.hooked(); known {
			e.addReport(&said)
			return said
		}
		status.Detail = j.String() + "; its hooks have reported nothing"
	}
	return status
}

// isNode reports whether a host is a node of Slurm: their names are equal up to the first dot.
func isNode(host, node string) bool {
	host, _, _ = strings.Cut(host, ".")
	node, _, _ = strings.Cut(node, ".")
	return strings.EqualFold(host, node)
}

// queued judges an agent whose job waits: Slurm starts it again.
func (e *Evidence) queued(r *agent.Record) agent.Status {
	queued := agent.Status{State: agent.Backoff, Cause: agent.LostTmux, Detail: e.Job.String(), Source: agent.FromProcess}
	if exit := r.ExitOf(r.Process.Invocation); exit != nil {
		queued.Cause, _ = e.Death.Why(r)
		queued.Since(exit.At, e.Now)
	}
	return queued
}

// jobIsOver reports whether a start was in the tmux server of a job, which has ended with the job.
func jobIsOver(p *agent.Process) bool {
	if p.Job == "" || p.Tmux == nil {
		return false
	}
	_, err := os.Stat(p.Tmux.Path)
	return errors.Is(err, fs.ErrNotExist) // what cannot be seen may be there
}

// JobElsewhere returns the running job of an agent whose terminal is on another node; nil if it runs in none, or here. An
// agent whose record lacks the user's seal leads to no job: its record could name any job of the user's. A command that
// runs in the job itself is led to none, or it would run itself there without end.
func (o *Project) JobElsewhere(s *Sight) *slurm.Job {
	switch j := s.Job; {
	case j == nil, j.Err != nil, !j.Runs(), o.Variable("SLURM_JOB_ID") == j.ID:
	case !isNode(s.Record.Process.Host, j.Node): // its start on that node is not recorded yet
	case s.Status.Down(), !o.IsForeign(&s.Record), o.Store.CheckSeal(&s.Record) != nil:
	default:
		return &j.Job
	}
	return nil
}

// JobElsewhereOf is JobElsewhere of an agent that it looks at.
func (o *Project) JobElsewhereOf(ctx context.Context, handle agent.Handle) *slurm.Job {
	r, err := o.Store.Load(handle)
	if err != nil || !InSlurm(&r) || !o.IsForeign(&r) {
		return nil
	}
	return o.JobElsewhere(new(o.LookAt(ctx, r)))
}

// AtNode runs a command line of this program, for this project, on the node of a job. There it counts as the user's: its
// caller's rights are checked here, before. limit is how long it may take by itself; 0: as long as it does. Errors: those
// of slurm.Client.At.
func (o *Project) AtNode(ctx context.Context, limit time.Duration, j slurm.Job, args ...string) (slurm.Ended, error) {
	line := append([]string{o.Program}, args[:1]...)
	line = append(append(line, "--root="+o.Store.Project()), args[1:]...)
	const way = 30 * time.Second // to start it there, on a busy cluster; and to type what has begun to be typed
	if limit > 0 {
		limit += way
	}
	return o.Slurm().At(ctx, limit, j, marks, line...)
}

// marks are the variables that say which claude has called a command, and in which tmux server.
var marks = []string{agent.InvocationVariable, agent.HandleVariable, agent.TurnVariable, "CLAUDECODE", "TMUX", "TMUX_PANE"}

// HintJob adds how to run a verb in the job of an agent of which nothing can be seen from here, if it is one of Slurm.
func (o *Project) HintJob(err *fail.Error, r *agent.Record, verb string) *fail.Error {
	if !o.IsForeign(r) || !strings.HasPrefix(r.Process.Job, "slurm/") {
		return err
	}
	return err.Hint("if its job runs: srun --overlap --pty --jobid $(squeue -h -t R -o %%A -n %s) nbs-worker %s %s", path.Base(r.Process.Job), verb, r.Handle)
}
