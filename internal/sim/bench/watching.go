package bench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"
)

const watchedAgents = 100

// checkWatch measures `watch` while its agents are idle, for several times as long as launchers are watched. It lets it
// settle for as long as a launcher: watch looks at all agents, and once more when it has begun to follow them.
func (w *world) checkWatch(ctx context.Context, agents int, idle time.Duration) (checks []Check, err error) {
	cmd := w.command(ctx, w.nbs("watch")...)
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	defer func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		if ended := cmd.Wait(); err == nil && cmd.ProcessState.ExitCode() != int(syscall.SIGINT)+128 {
			err = fmt.Errorf("the watch ended: %w", ended)
		}
	}()
	wait := func(d time.Duration) usage {
		select {
		case <-time.After(d):
		case <-ctx.Done():
		}
		used, failed := usageOf(cmd.Process.Pid)
		err = errors.Join(err, failed)
		return used
	}
	const times = 6
	during := max(times*idle, time.Second)
	before := wait(idle)
	after := wait(during)
	share := 100 * (after.cpu - before.cpu).Seconds() / during.Seconds()
	children := "no process started"
	if after.faults != before.faults {
		children = "processes started"
	}
	name := fmt.Sprintf("`watch` of %d idle agents", agents)
	return []Check{
		{Name: name, Measured: fmt.Sprintf("%.2f %% of a core in %s", share, during), Budget: "under 1 % of a core", Missed: share >= 1},
		{Name: name + ": tmux processes", Measured: children, Budget: "none while nothing changes", Missed: after.faults != before.faults},
	}, err
}

// usage is what a process has used so far.
type usage struct {
	cpu      time.Duration
	children time.Duration // of the processor, by the processes that it has started and waited for
	faults   int           // page faults of these: no process starts without one
}

func usageOf(pid int) (usage, error) {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return usage{}, err
	}
	// Behind the name, which may hold anything: state, and so on; see proc(5).
	fields := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
	const cminflt, utime, stime, cutime, cstime, tick = 8, 11, 12, 13, 14, 10 * time.Millisecond
	var n [cstime + 1]int
	for _, i := range []int{cminflt, utime, stime, cutime, cstime} {
		if n[i], err = strconv.Atoi(fields[i]); err != nil {
			return usage{}, err
		}
	}
	return usage{cpu: time.Duration(n[utime]+n[stime]) * tick, children: time.Duration(n[cutime]+n[cstime]) * tick, faults: n[cminflt]}, nil
}
