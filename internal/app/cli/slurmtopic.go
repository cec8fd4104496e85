package cli

const slurmTopic = `An agent can be a job of Slurm. The job has a tmux server of its own. A second copy of the job
waits until the first has ended.

  nbs-worker export slurm alice | sbatch --mem 4G
  nbs-worker list
  nbs-worker attach alice

list asks Slurm once: JOB is the job's id, its state, and its node or why it waits. An agent whose
job waits is backoff. attach goes to its node by srun --overlap. stop and dismiss cancel the job:
its own nbs-worker stops the agent, and the command waits until the job has ended. If the controller
does not answer, such an agent is unknown and its job unreachable, never dead. Without Slurm's
commands, list shows it as unknown, with its job.

send, wait, answer, logs, screen and interrupt work from any machine of the cluster, and so does
dash. send puts the text into the agent's outbox and has it typed on the node, by srun: if that is
cut, nothing is lost and nothing is typed twice. compact and send --raw work on the node alone;
their hint has the command.

  the launcher is killed    the job resumes the agent; after five kills it
                            fails
  the controller restarts   the agent goes on
  a node is lost, or the    Slurm puts the job back into the queue, and the
  job is preempted          agent goes on in its conversation, elsewhere
  the time limit is near    the agent is stopped 30 s before, and the job
                            puts itself back into the queue
  scancel, or stop          the agent is stopped, and the job ends; submit
                            it again to go on

The project, Claude's folder and XDG_STATE_HOME must be on a file system that the nodes share, with
locks (flock) that hold on all of them. The script has no secret in it: put keys into
~/.config/nbs-worker/environment.`
