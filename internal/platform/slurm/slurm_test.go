package slurm

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"nbs-worker/internal/fail"
	"nbs-worker/internal/sim/rig"
)

// has makes a Slurm whose commands are these scripts of sh.
func has(t *testing.T, scripts map[string]string) Client {
	t.Helper()
	bin := t.TempDir()
	for name, text := range scripts {
		rig.WriteProgram(t, filepath.Join(bin, name), "#!/bin/sh\n"+text+"\n")
	}
	t.Setenv("PATH", bin+":/usr/bin:/bin")
	return Client{UID: 7, Env: []string{"PATH=" + os.Getenv("PATH"), "SQUEUE_STATES=PENDING", "SLURM_CLUSTERS=other", "SLURM_CONF=/etc/slurm.conf"}}
}

// The jobs are all of the user and the names, whatever the user's variables have squeue show.
func TestJobs(t *testing.T) {
	c := has(t, map[string]string{"squeue": `[ -z "$SQUEUE_STATES$SLURM_CLUSTERS" ] && [ "$SLURM_CONF" ] || exit 1
case " $* " in *" --user=7 --name=nbs-a,nbs-b "*) ;; *) exit 2 ;; esac
echo '12|RUNNING|n1|nbs-a|None'
echo '13|PENDING|n/a|nbs-a|Dependency'
echo '14|REQUEUE_HOLD|n/a|nbs-b|(Nodes|down)'
echo '15|COMPLETING|n2|nbs-b|None'`})
	jobs, err := c.Jobs(t.Context(), []string{"nbs-a", "nbs-b"})
	rig.Must(t, err)
	var words []string
	for _, j := range jobs {
		words = append(words, j.String())
		rig.Check(t, !j.Runs() || !j.Waits(), "%v runs and waits", j)
	}
	rig.Same(t, "the jobs", []string{"job 12 RUNNING on n1", "job 13 PENDING: Dependency", "job 14 REQUEUE_HOLD: (Nodes|down)", "job 15 COMPLETING on n2"}, words)
	rig.Check(t, jobs[0].Runs() && jobs[1].Waits() && jobs[2].Waits() && !jobs[3].Runs() && !jobs[3].Waits(), "%v", jobs)
}

// A Slurm that does not answer, or says what cannot be read, has no answer: it never means that there is no job.
func TestNoAnswer(t *testing.T) {
	for _, script := range []string{"echo 'slurm_load_jobs error: down' >&2; exit 1", "echo hello", "echo '12|RUNNING'", "kill -9 $$"} {
		jobs, err := has(t, map[string]string{"squeue": script, "scontrol": script}).Jobs(t.Context(), []string{"nbs-a"})
		rig.Check(t, fail.KindOf(err) == fail.Unfit && jobs == nil, "%s: %v, %v", script, jobs, err)
	}
	_, err := has(t, map[string]string{"scontrol": "echo 'ClusterName             = rig'"}).Cluster(t.Context())
	rig.Must(t, err)
	_, err = has(t, map[string]string{"scontrol": "echo nothing"}).Cluster(t.Context())
	rig.Equal(t, fail.KindOf(err), fail.Unfit, "a controller that names no cluster")
	_, err = has(t, map[string]string{"squeue": "printf 'bad \\033[31m controller\\nmore\\n' >&2; exit 1"}).Jobs(t.Context(), []string{"nbs-a"})
	rig.Check(t, err != nil && !strings.ContainsAny(err.Error(), "\n\x1b") && strings.HasPrefix(err.Error(), "squeue: bad"), "%v", err)
}
