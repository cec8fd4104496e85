package slurm

import (
	"context"
	"strings"
	"testing"
	"time"

	"nbs-worker/internal/fail"
	"nbs-worker/internal/sim/rig"
)

// What a program at a node prints, and its exit code, are apart from what goes wrong on the way to it.
func TestAt(t *testing.T) {
	const coded = "echo 'srun: error: n1: task 0: Exited with exit code 5' >&2; exit 5"
	for script, want := range map[string]string{
		"echo out; echo said >&2":                                                           "out|said|0|",
		"echo out; echo 'nbs-worker: no' >&2; " + coded:                                     "out|nbs-worker: no|5|",
		"echo 'srun: warning: slow' >&2":                                                    "||0|",
		"echo 'srun: error: Invalid job id' >&2; exit 1":                                    "||0|the node n1 was not reached: srun: Invalid job id",
		"echo 'slurmstepd: error: CANCELLED' >&2; exit 1":                                   "||0|the node n1 was not reached: srun: CANCELLED",
		"echo 'slurmstepd: error: no TMPDIR' >&2; echo 'nbs-worker: no' >&2; " + coded:      "|nbs-worker: no|5|",
		"echo 'slurmstepd: error: execve(): prog: no' >&2; " + coded:                        "||0|the node n1 was not reached: srun: execve(): prog: no",
		"echo 'nbs-worker: no' >&2; echo 'slurmstepd: error: STEP CANCELLED' >&2; " + coded: "|nbs-worker: no|0|the node n1 was not reached: srun: STEP CANCELLED",
		"kill -9 $$": "||0|the node n1 was not reached: srun: signal: killed",
		"echo typed; echo 'srun: error: cut' >&2; exit 1":     "typed||0|the node n1 was not reached: srun: cut",
		"yes too much | head -c 9000000":                      "too much||0|the command on the node n1 prints too much",
		`[ "$SLURM_JOB_ID$SECRET" ] || echo "$SLURM_CONF $*"`: "/etc/slurm.conf --jobid=12 --overlap --quiet --nodes=1 --ntasks=1 --nodelist=n1 --input=none --chdir=/ prog -x||0|",
		"printf 'srun: error: bad \\033[31m\\n' >&2; exit 1":  "||0|the node n1 was not reached: srun: bad ?[31m",
		"cat >&2": "||0|",
		"echo 'srun: error: 1' >&2; echo 'srun: error: 2' >&2; exit 1": "||0|the node n1 was not reached: srun: 1",
	} {
		c := has(t, map[string]string{"srun": script})
		c.Env = append(c.Env, "SLURM_JOB_ID=7", "SECRET=s")
		ended, err := c.At(t.Context(), 0, Job{ID: "12", State: "RUNNING", Node: "n1"}, []string{"SECRET"}, "prog", "-x")
		what := ""
		if err != nil {
			what, ended.Out = err.Error(), ended.Out[:min(len(ended.Out), 9)]
			rig.Equal(t, fail.KindOf(err), fail.Unfit, "%s", script)
		}
		got := strings.Join([]string{strings.TrimSpace(ended.Out), strings.TrimSpace(ended.Said), string(rune('0' + ended.Code)), what}, "|")
		rig.Check(t, got == want, "%s: %q; want %q", script, got, want)
	}
}

func TestAtIsInterrupted(t *testing.T) {
	c := has(t, map[string]string{"srun": "exec sleep 1000"})
	ctx, leave := context.WithCancel(t.Context())
	leave()
	_, err := c.At(ctx, 0, Job{ID: "12", Node: "n1"}, nil, "prog")
	rig.Equal(t, fail.KindOf(err), fail.Interrupted, "a command that was interrupted")
	t.Setenv("PATH", t.TempDir())
	_, err = c.At(t.Context(), 0, Job{ID: "12", Node: "n1"}, nil, "prog")
	rig.Equal(t, fail.KindOf(err), fail.Unfit, "without srun")
}

// A node that does not answer is waited for until the limit.
func TestAtIsLimited(t *testing.T) {
	c := has(t, map[string]string{"srun": "exec sleep 1000"})
	_, err := c.At(t.Context(), time.Second, Job{ID: "12", Node: "n1"}, nil, "prog")
	rig.Check(t, fail.KindOf(err) == fail.Unfit && err.Error() == "the command on the node n1 did not end within 1s", "%v", err)
}
