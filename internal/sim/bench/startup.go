package bench

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"
	"time"
)

// compareStartUp compares the start-up of nbs-worker with that of a program that has cobra and nothing else.
func (w *world) compareStartUp(ctx context.Context, effort Effort) ([]Pair, error) {
	empty := w.timed("", filepath.Join(w.tools, "emptycobra"), "version")
	pairs := []Pair{
		{Name: "start-up: `version`", Beside: "empty cobra program", Budget: Budget{Plus: 4}},
		{Name: "start-up: the launcher", Beside: "empty cobra program", Budget: Budget{Plus: 4}},
	}
	ours := []sampler{w.timed("nbs-worker", w.nbs("version")...), w.refusedLauncher}
	for i := range pairs {
		var err error
		if pairs[i].Floor, pairs[i].Ours, err = interleave(ctx, effort, empty, ours[i]); err != nil {
			return nil, fmt.Errorf("measure start-up: %w", err)
		}
	}
	return pairs, nil
}

// refusedLauncher samples a launcher that has opened its project and then finds nothing to launch.
func (w *world) refusedLauncher(ctx context.Context) (time.Duration, error) {
	const conflict = 5
	cmd := w.command(ctx, w.nbs("run", handle(0))...)
	cmd.Env = append(cmd.Env, "NBS_LAUNCH=00000000-0000-4000-8000-000000000000")
	took, _, err := measure(cmd)
	if exit, exited := errors.AsType[*exec.ExitError](err); !exited || exit.ExitCode() != conflict {
		return took, fmt.Errorf("a launcher with nothing to launch: %w", err)
	}
	return took, nil
}

// checkFaults counts the page faults of a start. They vary with the kernel, and not with how busy the machine is.
func (w *world) checkFaults(ctx context.Context) (Check, error) {
	var medians [2]int64
	for i, argv := range [][]string{w.nbs("version"), {filepath.Join(w.tools, "empty")}} {
		var series []int64
		for range faultRuns {
			cmd := w.command(ctx, argv...)
			if err := cmd.Run(); err != nil {
				return Check{}, fmt.Errorf("count page faults: %w", err)
			}
			series = append(series, cmd.ProcessState.SysUsage().(*syscall.Rusage).Minflt)
		}
		slices.Sort(series)
		medians[i] = series[len(series)/2]
	}
	return Check{
		Name:     "start-up: minor page faults of `version`",
		Measured: fmt.Sprintf("%d; %d of an empty Go program", medians[0], medians[1]),
		Budget:   fmt.Sprintf("at most %d", mostFaults), Missed: medians[0] > mostFaults,
	}, nil
}

const (
	faultRuns  = 20
	mostFaults = 400
)
