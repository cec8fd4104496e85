package observe

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
	"nbs-worker/internal/platform/slurm"
)

// Jobs is what Slurm said last. A program that looks at a team again and again asks it seldom.
type Jobs struct {
	mu      sync.Mutex
	at      time.Time
	names   map[string]bool
	starts  map[agent.Invocation]bool // that were recorded before Slurm was asked: only their jobs can be over
	jobs    []slurm.Job
	cluster string
	err     error
}

// queueAge is for how long an answer of Slurm is used again.
const queueAge = 5 * time.Second

// Slurm runs Slurm's commands for the caller.
func (o *Project) Slurm() slurm.Client { return slurm.Client{UID: o.UID, Env: o.Env} }

// jobOf returns what Slurm says of the job of a record; nil if it is in no job of Slurm, or Slurm's commands are not here.
func (o *Project) jobOf(ctx context.Context, r *agent.Record) *Job {
	return o.JobSince(ctx, r, time.Now().Add(-queueAge))
}

// JobSince is what Slurm has said after some time of the job of a record; nil as for a look.
func (o *Project) JobSince(ctx context.Context, r *agent.Record, since time.Time) *Job {
	cluster, name, is := slurmJob(r)
	if !is || !o.Slurm().IsHere() {
		return nil
	}
	q := cmp.Or(o.Jobs, &Jobs{})
	q.mu.Lock()
	defer q.mu.Unlock()
	if !q.starts[r.Process.Invocation] || q.at.Before(since) {
		q.ask(ctx, o.Slurm(), []agent.Record{*r})
	}
	if q.err != nil {
		return &Job{Err: q.err}
	}
	if cluster != "" && !strings.EqualFold(cluster, q.cluster) {
		return &Job{Err: fail.Errorf(fail.Unfit, "it is of the cluster %s, and the commands here are of %s", human.Word(cluster), human.Word(q.cluster))}
	}
	j := &Job{}
	for _, job := range q.jobs {
		if job.Name != name {
			continue
		}
		j.All = append(j.All, job)
		if j.ID == "" || j.Waits() && !job.Waits() {
			j.Job = job
		}
	}
	return j
}

// askJobs asks Slurm once about the jobs of all records that need it.
func (o *Project) askJobs(ctx context.Context, records []agent.Record) {
	var asked []agent.Record
	for _, r := range records {
		if InSlurm(&r) && (r.ExitOf(r.Process.Invocation) != nil || o.IsForeign(&r)) {
			asked = append(asked, r)
		}
	}
	if len(asked) == 0 || !o.Slurm().IsHere() {
		return
	}
	q := cmp.Or(o.Jobs, &Jobs{})
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, r := range asked {
		if !q.starts[r.Process.Invocation] || time.Since(q.at) > queueAge {
			q.ask(ctx, o.Slurm(), asked)
			return
		}
	}
}

// ask asks Slurm about the jobs of records, and about those of the last time again.
func (q *Jobs) ask(ctx context.Context, client slurm.Client, records []agent.Record) {
	if q.names == nil {
		q.names, q.starts = map[string]bool{}, map[agent.Invocation]bool{}
	}
	for _, r := range records {
		_, name, _ := slurmJob(&r)
		q.names[name], q.starts[r.Process.Invocation] = true, true
	}
	ctx, cancel := context.WithTimeout(ctx, slurm.Limit)
	defer cancel()
	q.at, q.err = time.Now(), nil
	if q.cluster == "" {
		q.cluster, q.err = client.Cluster(ctx)
	}
	if q.err == nil {
		q.jobs, q.err = client.Jobs(ctx, slices.Sorted(maps.Keys(q.names)))
	}
	if q.err != nil {
		q.at = time.Now() // it may have waited for long
	}
}
