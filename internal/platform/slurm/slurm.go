// Package slurm asks Slurm about a user's jobs, ends them, and reaches the terminals in them, by Slurm's own commands.
package slurm

import (
	"context"
	"errors"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"

	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
)

// Job is a job in Slurm's queue.
type Job struct {
	ID     string
	Name   string
	State  string // in Slurm's words: RUNNING, PENDING, COMPLETING
	Node   string // where its script runs; "" while it waits
	Reason string // why it waits, in Slurm's words; "" otherwise
}

// Runs reports whether the script of the job runs.
func (j Job) Runs() bool { return j.State == "RUNNING" }

// Waits reports whether the job has not begun, or is to begin again, and nothing of it runs.
func (j Job) Waits() bool {
	return slices.Contains([]string{"PENDING", "REQUEUED", "REQUEUE_HOLD", "SPECIAL_EXIT", "RESV_DEL_HOLD"}, j.State)
}

// String describes the job in a few words: "job 12 RUNNING on n1", "job 12 PENDING: Resources".
func (j Job) String() string {
	text := "job " + j.ID + " " + j.State
	if j.Node != "" {
		text += " on " + j.Node
	}
	if j.Reason != "" {
		text += ": " + j.Reason
	}
	return text
}

// Client runs Slurm's commands for one user.
type Client struct {
	UID int
	Env []string // the caller's environment
}

// Limit is how long one command may take. squeue alone would try for ten seconds to reach a controller that is off.
const Limit = 3 * time.Second

// IsHere reports whether this machine has Slurm's commands.
func (c Client) IsHere() bool {
	_, err := exec.LookPath("squeue")
	return err == nil
}

// Jobs returns the jobs of the user that have one of these names, in the order of their ids. Errors: Unfit when Slurm does
// not answer.
func (c Client) Jobs(ctx context.Context, names []string) ([]Job, error) {
	out, err := c.run(ctx, "squeue", "--noheader", "--all", "--user="+strconv.Itoa(c.UID), "--name="+strings.Join(names, ","), "--sort=i", "--format=%A|%T|%B|%j|%r")
	if err != nil {
		return nil, err
	}
	var jobs []Job
	for line := range strings.Lines(out) {
		const fields = 5
		f := strings.SplitN(strings.TrimSpace(line), "|", fields)
		if _, err := strconv.ParseUint(f[0], 10, 64); err != nil || len(f) < fields {
			return nil, fail.Errorf(fail.Unfit, "squeue printed %s", human.Quote(strings.TrimSpace(line)))
		}
		j := Job{ID: f[0], State: human.Legible(f[1]), Node: human.Legible(f[2]), Name: f[3]}
		if j.Waits() {
			j.Node, j.Reason = "", human.Legible(f[4])
		}
		jobs = append(jobs, j)
	}
	return jobs, nil
}

// Cluster returns the name of the cluster that the commands ask. Errors: Unfit when Slurm does not answer.
func (c Client) Cluster(ctx context.Context) (string, error) {
	out, err := c.run(ctx, "scontrol", "show", "config")
	if err != nil {
		return "", err
	}
	for line := range strings.Lines(out) {
		if name, value, found := strings.Cut(line, "="); found && strings.TrimSpace(name) == "ClusterName" {
			return strings.TrimSpace(value), nil
		}
	}
	return "", fail.Errorf(fail.Unfit, "scontrol names no cluster")
}

// Cancel asks Slurm to end jobs: each process of theirs gets SIGTERM, and after the grace of the cluster SIGKILL. A job
// that has ended already is no error. Errors: Unfit when Slurm does not answer.
func (c Client) Cancel(ctx context.Context, ids ...string) error {
	_, err := c.run(ctx, "scancel", ids...)
	return err
}

// environment is the caller's without the variables that change what squeue shows, which cluster is asked, and, of a
// caller in a job, what another step is given.
func (c Client) environment() []string {
	return slices.DeleteFunc(slices.Clone(c.Env), func(entry string) bool {
		return strings.HasPrefix(entry, "SQUEUE_") || strings.HasPrefix(entry, "SCANCEL_") ||
			strings.HasPrefix(entry, "SLURM_") && !strings.HasPrefix(entry, "SLURM_CONF=")
	})
}

func (c Client) run(ctx context.Context, program string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, Limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Env = c.environment()
	cmd.WaitDelay = time.Second // what it has started does not hold its pipes open for longer
	out, err := cmd.Output()
	if err == nil {
		return string(out), nil
	}
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return "", fail.Errorf(fail.Unfit, "%s did not answer within %s", program, Limit)
	}
	if exit, is := errors.AsType[*exec.ExitError](err); is && len(exit.Stderr) > 0 {
		said, _, _ := strings.Cut(strings.TrimSpace(string(exit.Stderr)), "\n")
		err = errors.New(human.Legible(said))
	}
	return "", fail.Errorf(fail.Unfit, "%s: %w", program, err)
}
