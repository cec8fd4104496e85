package observe

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"strings"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/fail"
)

// jobIsOver reports whether a start was in the tmux server of a job, which has ended with the job.
func jobIsOver(p *agent.Process) bool {
	if p.Job == "" || p.Tmux == nil {
		return false
	}
	_, err := os.Stat(p.Tmux.Path)
	return errors.Is(err, fs.ErrNotExist) // what cannot be seen may be there
}

// HintJob adds how to run a verb in the job of an agent of which nothing can be seen from here, if it is one of Slurm.
func (o *Project) HintJob(err *fail.Error, r *agent.Record, verb string) *fail.Error {
	if !o.IsForeign(r) || !strings.HasPrefix(r.Process.Job, "slurm/") {
		return err
	}
	return err.Hint("if its job runs: srun --overlap --pty --jobid $(squeue -h -t R -o %%A -n %s) nbs-worker %s %s", path.Base(r.Process.Job), verb, r.Handle)
}
