package supervisor

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/platform/slurm"
	"nbs-worker/internal/sim/rig"
	"nbs-worker/internal/team/observe"
)

// inCluster has alpha in the job nbs-a on the node n1. squeue is a script that prints the queue; after scancel, which
// notes what it was asked to end, the queue is empty.
func inCluster(t *testing.T, squeue string) (w *world, cancelled string) {
	t.Helper()
	w = newWorld(t)
	bin := t.TempDir()
	cancelled = filepath.Join(bin, "cancelled")
	for name, text := range map[string]string{
		"scontrol": "echo 'ClusterName = rig'",
		"squeue":   "[ -e " + cancelled + " ] || { " + squeue + "; }",
		"scancel":  `echo "$*" >>` + cancelled,
	} {
		rig.WriteProgram(t, filepath.Join(bin, name), "#!/bin/sh\n"+text+"\n")
	}
	t.Setenv("PATH", bin+":/usr/bin:/bin")
	w.Project.Env = append(w.Project.Env, "PATH="+os.Getenv("PATH"))
	w.has("alpha", func(r *agent.Record) {
		id := agent.Identity{Identified: agent.Identified{PID: 7, StartTicks: 7}, BootID: "another", PIDNS: 1, Host: "n1"}
		r.PID, r.Process = 7, &agent.Process{Identity: id, Invocation: agent.NewInvocation(), Job: "slurm/rig/nbs-a"}
	})
	return w, cancelled
}

func anyone(*agent.Record) error { return nil }

// All jobs of an agent's name are cancelled, those that wait too: the next one would start the agent again.
func TestJobsAreCancelled(t *testing.T) {
	for queue, want := range map[string]string{
		"echo '12|RUNNING|n1|nbs-a|None'; echo '13|PENDING|n/a|nbs-a|Dependency'": "12 13",
		"echo '12|PENDING|n/a|nbs-a|Resources'":                                   "12",
		"echo '12|REQUEUE_HOLD|n/a|nbs-a|(launch failed)'":                        "12",
		"echo '14|RUNNING|n2|training|None'":                                      "", // which is not its job
		":":                                                                       "",
	} {
		w, cancelled := inCluster(t, queue)
		was, err := w.endJob(t.Context(), "alpha", anyone)
		rig.Must(t, err)
		text, _ := os.ReadFile(cancelled)
		rig.Equal(t, strings.TrimSpace(string(text)), want, "cancelled of %s", queue)
		r, err := w.Project.Store.Load("alpha")
		rig.Must(t, err)
		rig.Check(t, (was != nil) == (want != "") && (r.Desired == agent.DesiredStopped) == (want != ""), "%s: it was %v, and is to be %s", queue, was, r.Desired)
	}
}

// Nothing is cancelled when Slurm does not answer, when the caller may not, by a record that was changed behind the user's
// back, and by the job itself.
func TestJobsThatAreNotCancelled(t *testing.T) {
	const runs = "echo '12|RUNNING|n1|nbs-a|None'; echo '14|RUNNING|n1|training|None'"
	held := func(*agent.Record) error { return fail.Errorf(fail.Held, "no") }
	for what, c := range map[string]struct {
		queue   string
		allowed func(*agent.Record) error
		change  func(*world)
		want    fail.Kind
	}{
		"no answer":     {"echo 'slurm_load_jobs error: down' >&2; exit 1", anyone, func(*world) {}, fail.Unfit},
		"not permitted": {runs, held, func(*world) {}, fail.Held},
		"forged": {runs, anyone, func(w *world) {
			path := w.dir + "/project/.nbs/sessions/alpha.json"
			text, err := os.ReadFile(path)
			w.must(err)
			w.put(path, strings.Replace(string(text), "slurm/rig/nbs-a", "slurm/rig/training", 1))
		}, fail.Held},
		"another cluster's": {strings.ReplaceAll(runs, "nbs-a", "nbs-b"), anyone, func(w *world) {
			w.put(filepath.Join(filepath.Dir(w.cancelledBy()), "scontrol"), "#!/bin/sh\necho 'ClusterName = other'\n")
		}, fail.Unfit},
		"its own": {runs, anyone, func(w *world) { w.Project.Env = append(w.Project.Env, "SLURM_JOB_ID=12") }, 0},
	} {
		w, cancelled := inCluster(t, c.queue)
		c.change(w)
		was, err := w.endJob(t.Context(), "alpha", c.allowed)
		kind := fail.Kind(0)
		if err != nil {
			kind = fail.KindOf(err)
		}
		_, gone := os.Stat(cancelled)
		rig.Check(t, kind == c.want && was == nil && os.IsNotExist(gone), "%s: %v, %v, cancelled: %v", what, was, err, gone == nil)
		r, err := w.Project.Store.Load("alpha")
		rig.Must(t, err)
		rig.Check(t, r.Desired != agent.DesiredStopped, "%s: it is to be stopped", what)
	}
}

// cancelledBy is where scancel of this world notes something.
func (w *world) cancelledBy() string {
	bin, _, _ := strings.Cut(os.Getenv("PATH"), ":")
	return filepath.Join(bin, "cancelled")
}

// An agent whose job waits is started by Slurm, and not here as well.
func TestNoSecondStartBesideTheQueue(t *testing.T) {
	t.Parallel()
	s := New(&observe.Project{}, nil)
	for state, refused := range map[string]bool{"PENDING": true, "REQUEUED": true, "RUNNING": false, "COMPLETING": false} {
		err := s.checkQueue(&observe.Sight{Record: agent.Record{Spec: agent.Spec{Handle: "alpha"}}, Job: &observe.Job{Job: slurm.Job{ID: "12", State: state, Reason: "Priority"}}})
		rig.Check(t, (err != nil) == refused && (err == nil || fail.KindOf(err) == fail.Conflict && strings.Contains(err.Error(), "job 12 "+state)), "%s: %v", state, err)
	}
	rig.Must(t, s.checkQueue(&observe.Sight{}))
	rig.Must(t, s.checkQueue(&observe.Sight{Job: &observe.Job{Err: os.ErrDeadlineExceeded}}))
	its := New(&observe.Project{Env: []string{"SLURM_JOB_ID=12"}}, nil)
	rig.Must(t, its.checkQueue(&observe.Sight{Job: &observe.Job{Job: slurm.Job{ID: "12", State: "PENDING"}}}))
}
