package bench

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// launchersWatched is how many of the team's launchers are looked at.
const launchersWatched = 10

// idleLauncher is what a launcher uses while its agent does nothing.
type idleLauncher struct {
	resident, own int // kB; own: anonymous, so without the pages of the program, which all launchers share
	threads       int
	sleeps        int // of all threads, since they began: each wake-up ends with one
}

// watch is a first look at launchers whose agents are idle from then on.
type watch struct {
	since  time.Time
	before []idleLauncher
}

// watchLaunchers takes the first look when the launchers have settled: in the first seconds after a start, Go's runtime
// wakes once more.
func (w *world) watchLaunchers(ctx context.Context, agents int, settled time.Duration) (*watch, error) {
	select {
	case <-time.After(settled):
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	before, err := w.launchers(agents)
	return &watch{since: time.Now(), before: before}, err
}

// end looks a second time, when the launchers were watched for long enough, and reports the worst of them.
func (t *watch) end(ctx context.Context, w *world, enough time.Duration) ([]Check, error) {
	select {
	case <-time.After(time.Until(t.since.Add(enough))):
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	after, err := w.launchers(len(t.before))
	if err != nil {
		return nil, err
	}
	var worst idleLauncher
	for i, launcher := range after {
		worst.resident = max(worst.resident, launcher.resident)
		worst.own = max(worst.own, launcher.own)
		worst.threads = max(worst.threads, launcher.threads)
		worst.sleeps = max(worst.sleeps, launcher.sleeps-t.before[i].sleeps)
	}
	const limit = 4_000_000 // bytes
	return []Check{
		{
			Name: "an idle agent's launcher: its own memory (`RssAnon`)", Budget: "under 4 MB", Missed: worst.own*1024 >= limit,
			Measured: fmt.Sprintf("%.1f MB of %.1f MB resident; %d threads", megabytes(worst.own), megabytes(worst.resident), worst.threads),
		},
		{
			Name: "an idle agent's launcher: wake-ups", Budget: "Go's own, 2 a minute", Missed: worst.sleeps > goWakeUps(time.Since(t.since)),
			Measured: fmt.Sprintf("%d in %s", worst.sleeps, time.Since(t.since).Round(time.Second)),
		},
	}, nil
}

// goWakeUps is how often any Go program wakes up: its runtime's monitor runs once a minute and cannot be switched off.
func goWakeUps(watched time.Duration) int {
	const perLook = 2
	return perLook * (1 + int(watched/time.Minute))
}

func megabytes(kB int) float64 { return float64(kB) * 1024 / 1e6 }

func (w *world) launchers(agents int) ([]idleLauncher, error) {
	var found []idleLauncher
	for i := range min(agents, launchersWatched) {
		pid, err := w.launcherOf(handle(i))
		if err != nil {
			return nil, err
		}
		one, err := lookAt(pid)
		if err != nil {
			return nil, fmt.Errorf("look at launcher %d: %w", pid, err)
		}
		found = append(found, one)
	}
	return found, nil
}

// launcherOf reads the launcher's pid from the record.
func (w *world) launcherOf(handle string) (int, error) {
	data, err := os.ReadFile(filepath.Join(w.Project, ".nbs", "sessions", handle+".json"))
	if err != nil {
		return 0, err
	}
	var record struct {
		Process struct{ Launcher struct{ PID int } }
	}
	if err := json.Unmarshal(data, &record); err != nil {
		return 0, fmt.Errorf("record of %s: %w", handle, err)
	}
	return record.Process.Launcher.PID, nil
}

func lookAt(pid int) (idleLauncher, error) {
	dir := "/proc/" + strconv.Itoa(pid)
	status, err := numbersOf(dir + "/status")
	if err != nil {
		return idleLauncher{}, err
	}
	found := idleLauncher{resident: status["VmRSS"], own: status["RssAnon"], threads: status["Threads"]}
	threads, _ := filepath.Glob(dir + "/task/*/status") // the pattern is well formed
	for _, path := range threads {
		thread, err := numbersOf(path)
		if err != nil {
			return found, err
		}
		found.sleeps += thread["voluntary_ctxt_switches"] // not the involuntary ones, which a busy machine adds
	}
	return found, nil
}

// numbersOf reads lines like "VmRSS:   3044 kB".
func numbersOf(path string) (map[string]int, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	found := map[string]int{}
	lines := bufio.NewScanner(bytes.NewReader(data))
	for lines.Scan() {
		name, value, _ := strings.Cut(lines.Text(), ":")
		if fields := strings.Fields(value); len(fields) > 0 {
			if n, err := strconv.Atoi(fields[0]); err == nil {
				found[name] = n
			}
		}
	}
	return found, lines.Err()
}
