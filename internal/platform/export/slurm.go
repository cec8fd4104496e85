package export

import (
	"strings"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
)

// Job is the input for a job that runs one agent.
type Job struct {
	Program string // absolute path of nbs-worker, where the job runs
	Project string // absolute path of the project root, there
	Handle  agent.Handle
	Env     []string // NAME=value, that the agent needs
	Image   string   // of a container; only for Kubernetes
}

// JobName returns the name of the job of an agent.
func JobName(project string, handle agent.Handle) string {
	return "nbs-" + projectName(project) + "-" + string(handle)
}

// Slurm returns a script for sbatch. Errors: BadInput for a folder that sbatch cannot be given.
func (j Job) Slurm() (Unit, error) {
	if strings.ContainsFunc(j.Project, func(r rune) bool { return r < ' ' || r == 0x7f }) {
		return Unit{}, fail.Errorf(fail.BadInput, "sbatch cannot use a folder whose name has a control character: %s", human.Quote(j.Project)).
			Hint("move the project to another folder")
	}
	name := JobName(j.Project, j.Handle)
	var exports strings.Builder
	for _, variable := range j.Env {
		exports.WriteString("export " + human.ShellWord(variable) + "\n")
	}
	run := strings.Join(agent.Mapped([]string{j.Program, "--root", j.Project, "run", string(j.Handle)}, human.ShellWord), " ")
	return Unit{name + ".sh", `#!/bin/bash
` + strings.Replace(mark, "systemd", "slurm", 1) + `#
# One job of this name and user runs at a time. A lost node, a time limit or a
# preemption puts the job back into the queue, and the agent goes on in its
# conversation. sbatch takes limits beside the file: sbatch -p main --mem 4G FILE
#SBATCH -J ` + name + `
#SBATCH --dependency=singleton
#SBATCH --requeue
#SBATCH --open-mode=append
#SBATCH --signal=B:TERM@30
#SBATCH --export=NONE
#SBATCH -D ` + sbatchWord(j.Project) + `

case $SLURM_JOB_DEPENDENCY in
*singleton*) ;;
*)
	echo 'nbs-worker: submit this job with its own --dependency=singleton' >&2
	exit 4
	;;
esac
umask 077
` + exports.String() + "# API keys and the like: NAME=value lines, which only you can read.\n" + keysScript + "\n" + run + ` --job "slurm/$SLURM_CLUSTER_NAME/$SLURM_JOB_NAME" &
run=$!
leaving=
trap 'leaving=1; kill -TERM "$run"' TERM
wait "$run"
code=$?
while kill -0 "$run" 2>/dev/null; do # a signal has ended the wait
	wait "$run"
	code=$?
done
# scancel ends the job for good. Whatever else ends it leaves it running for Slurm.
if [ -n "$leaving" ] && [ "$(squeue -h -j "$SLURM_JOB_ID" -o %T)" = RUNNING ]; then
	scontrol requeue "$SLURM_JOB_ID"
fi
exit "$code"
`}, nil
}

// sbatchWord returns one word of an option in a script of sbatch.
func sbatchWord(word string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(word) + `"`
}
