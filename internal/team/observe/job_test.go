package observe

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/platform/export"
	"nbs-worker/internal/platform/machine"
	"nbs-worker/internal/platform/slurm"
	"nbs-worker/internal/sim/rig"
)

const anInvocation = "00000000-0000-4000-8000-000000000001"

func inJob(name, invocation string, pid int) agent.Record {
	p := &agent.Process{Invocation: agent.Invocation(invocation), Job: "slurm/rig/" + name, Identity: agent.Identity{Host: "n1"}}
	p.PID = pid
	return agent.Record{Spec: agent.Spec{Handle: "alpha"}, PID: pid, Desired: agent.DesiredRunning, Process: p}
}

// An agent in a job is what Slurm and its hooks say together. It is dead only if Slurm knows its job no more.
func TestStatusInAJob(t *testing.T) {
	t.Parallel()
	runs := &Job{Job: slurm.Job{ID: "12", State: "RUNNING", Node: "n1"}}
	for what, c := range map[string]struct {
		job    *Job
		report agent.Report
		pid    int
		exit   *agent.Exit
		want   string // state, cause, detail
	}{
		"no Slurm here":         {nil, said(agent.Idle, "Stop", ""), 7, nil, `unknown / it runs on host "n1", in the job slurm/rig/nbs-a`},
		"Slurm does not answer": {&Job{Err: errors.New("squeue: down")}, said(agent.Idle, "Stop", ""), 7, nil, `unknown / it runs on host "n1", in the job slurm/rig/nbs-a; squeue: down`},
		"idle":                  {runs, said(agent.Idle, "Stop", ""), 7, nil, "idle / "},
		"it asks":               {runs, said(agent.Waiting, "Notification", "permission prompt"), 7, nil, "waiting / permission prompt"},
		"it begins":             {runs, agent.Report{}, 0, nil, "starting / "},
		"it begins elsewhere":   {&Job{Job: slurm.Job{ID: "12", State: "RUNNING", Node: "N2.x"}}, said(agent.Idle, "Stop", ""), 7, nil, `unknown / job 12 RUNNING on N2.x; its last start was on host "n1"`},
		"no hook":               {runs, agent.Report{}, 7, nil, "unknown / job 12 RUNNING on n1; its hooks have reported nothing"},
		"it is leaving":         {runs, goodbye(), 7, nil, "unknown / job 12 RUNNING on n1; its hooks have reported nothing"},
		"suspended":             {&Job{Job: slurm.Job{ID: "12", State: "SUSPENDED", Node: "n1"}}, said(agent.Busy, "Stop", ""), 7, nil, "unknown / job 12 SUSPENDED on n1"},
		"its node was lost":     {&Job{Job: slurm.Job{ID: "12", State: "PENDING", Reason: "BeginTime"}}, said(agent.Busy, "Stop", ""), 7, nil, "backoff lost: tmux / job 12 PENDING: BeginTime"},
		"a time limit":          {&Job{Job: slurm.Job{ID: "12", State: "PENDING", Reason: "Priority"}}, goodbye(), 7, &agent.Exit{At: now, Invocation: anInvocation}, "backoff exited / job 12 PENDING: Priority"},
		"over":                  {&Job{}, said(agent.Busy, "Stop", ""), 7, nil, "dead lost: tmux / its job has ended"},
		"over, and seen":        {&Job{}, goodbye(), 7, &agent.Exit{At: now, Invocation: anInvocation}, "dead exited / "},
		"seen, and no answer":   {&Job{Err: errors.New("squeue: down")}, goodbye(), 7, &agent.Exit{At: now, Invocation: anInvocation}, "dead exited / "},
	} {
		r := inJob("nbs-a", anInvocation, c.pid)
		if c.exit != nil {
			r.Exits = []agent.Exit{*c.exit}
		}
		status, _ := judge(&r, &Evidence{Now: now, Claude: machine.Foreign, Job: c.job, Report: c.report})
		words := string(status.State)
		if status.Cause != "" {
			words += " " + string(status.Cause)
		}
		rig.Equal(t, words+" / "+status.Detail, c.want, "%s", what)
		rig.Check(t, !status.SamePID, "%s: its process was seen", what)
	}
}

// A whole team is one question to Slurm, which is asked again for a start that it could not know.
func TestSlurmIsAskedOnce(t *testing.T) {
	bin := t.TempDir()
	asked := filepath.Join(bin, "asked")
	for name, text := range map[string]string{
		"scontrol": "echo 'ClusterName = RIG'",
		"squeue":   "echo \"$@\" >>" + asked + "\necho '12|RUNNING|n1|nbs-a|None'\necho '13|PENDING|n/a|nbs-a|Dependency'",
	} {
		rig.WriteProgram(t, filepath.Join(bin, name), "#!/bin/sh\n"+text+"\n")
	}
	t.Setenv("PATH", bin+":/usr/bin:/bin")
	o := &Project{Env: os.Environ(), Jobs: &Jobs{}}
	a, b := inJob("nbs-a", anInvocation, 7), inJob("nbs-b", "00000000-0000-4000-8000-000000000002", 8)
	o.Jobs.ask(t.Context(), o.Slurm(), []agent.Record{a, b})
	questions := func() []string {
		text, _ := os.ReadFile(asked)
		return strings.Split(strings.TrimSpace(string(text)), "\n")
	}
	j := o.jobOf(t.Context(), &a)
	rig.Check(t, j.Err == nil && j.ID == "12" && len(j.All) == 2, "%+v", j)
	j = o.jobOf(t.Context(), &b)
	rig.Check(t, j.isOver(), "%+v", j)
	rig.Check(t, len(questions()) == 1 && strings.Contains(questions()[0], "--name=nbs-a,nbs-b"), "%q", questions())

	again := inJob("nbs-b", "00000000-0000-4000-8000-000000000003", 9)
	o.jobOf(t.Context(), &again)
	rig.Equal(t, len(questions()), 2, "questions after a new start")
	o.JobSince(t.Context(), &a, time.Now())
	rig.Equal(t, len(questions()), 3, "questions, with a fresh one")

	other := inJob("nbs-a", anInvocation, 7)
	other.Process.Job = "slurm/another/nbs-a"
	j = o.jobOf(t.Context(), &other)
	rig.Check(t, j.Err != nil && !j.isOver() && j.Word() == "unreachable", "another cluster: %+v", j)
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	j = o.JobSince(cancelled, &a, time.Now())
	rig.Check(t, j.Err != nil && !j.isOver(), "a question that was broken off: %+v", j)
}

// A job is over when the folder of its tmux server is gone, and not when that cannot be seen.
func TestAJobThatIsOver(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	rig.Must(t, os.WriteFile(file, nil, 0o600))
	for path, want := range map[string]bool{file: false, filepath.Join(dir, "gone/tmux"): true, filepath.Join(file, "tmux"): false} {
		p := &agent.Process{Job: "slurm/a", Tmux: &agent.TmuxPlace{Path: path}}
		rig.Equal(t, jobIsOver(p), want, "%s", path)
	}
	rig.Equal(t, jobIsOver(&agent.Process{}), false, "of no job")
}

// Before its job has begun for the first time, an agent is found in the queue by what export slurm has noted. No seal
// covers that, so that it must not lead to another job of the user's.
func TestJobThatHasNotBegun(t *testing.T) {
	t.Parallel()
	own := export.JobName("/srv/project", "alpha")
	other := export.JobName("/srv/other", "alpha")
	for name, want := range map[string]bool{own: true, other: false, "training-alpha": false, export.JobName("/srv/project", "beta"): false, "": false, "nbs-x,training-alpha": false} {
		r := inJob("", anInvocation, 7)
		r.ProjectRoot, r.Process.Job, r.SlurmJob = "/srv/project", "", name
		rig.Check(t, !InSlurm(&r), "%q counts for an agent that may run", name)
		r.Exits = []agent.Exit{{At: now, Invocation: anInvocation}}
		rig.Equal(t, InSlurm(&r), want, "%q", name)
	}
}
