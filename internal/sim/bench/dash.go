package bench

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/creack/pty"
)

// changesPerSecond is how often an agent changes while the dashboard is under load.
const changesPerSecond = 10

// checkDash measures the dashboard on a wide screen: while its agents are idle, and while they begin and end turns.
func (w *world) checkDash(ctx context.Context, agents int, idle time.Duration) (checks []Check, err error) {
	cmd := w.command(ctx, w.nbs("dash")...)
	cmd.Env = append(cmd.Env, "TERM=xterm-256color")
	screen, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: 60, Cols: 200})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, endDash(cmd, screen)) }()
	if err := isDrawn(ctx, screen); err != nil {
		return nil, err
	}
	turns, err := w.turnsOf(agents)
	if err != nil {
		return nil, err
	}
	const times = 6
	during := max(times*idle, time.Second)
	if err := sleep(ctx, max(idle, time.Second)); err != nil {
		return nil, err
	}
	rest, err := usedWhile(cmd.Process.Pid, func() error { return sleep(ctx, during) })
	if err != nil {
		return nil, err
	}
	load, err := usedWhile(cmd.Process.Pid, func() error { return play(ctx, turns, during) })
	for _, change := range turns { // what is measured next waits for idle agents
		err = errors.Join(err, change(false, 0))
	}
	if err != nil {
		return nil, err
	}
	memory, err := residentOf(cmd.Process.Pid)
	if err != nil {
		return nil, err
	}
	percent := func(used time.Duration) float64 { return 100 * used.Seconds() / during.Seconds() }
	name := fmt.Sprintf("`dash` of %d agents", agents)
	children := "no process started"
	if rest.faults > 0 {
		children = "processes started"
	}
	const mostIdle, mostLoad, mostMemory = 1, 10, 60
	return []Check{
		{Name: name + ", idle", Measured: fmt.Sprintf("%.2f %% of a core in %s", percent(rest.cpu), during), Budget: "under 1 % of a core", Missed: percent(rest.cpu) >= mostIdle},
		{Name: name + ", idle: tmux processes", Measured: children, Budget: "none while nothing changes", Missed: rest.faults > 0},
		{
			Name:     fmt.Sprintf("%s, %d changes a second", name, changesPerSecond),
			Measured: fmt.Sprintf("%.1f %% of a core, and %.1f %% in tmux clients, in %s", percent(load.cpu), percent(load.children), during),
			Budget:   "under 10 % of a core", Missed: percent(load.cpu+load.children) >= mostLoad,
		},
		{Name: name + ": memory", Measured: fmt.Sprintf("%d MB", memory), Budget: "under 60 MB", Missed: memory >= mostMemory},
	}, nil
}

// isDrawn waits until the dashboard shows its table. From then on its output is dropped.
func isDrawn(ctx context.Context, screen io.Reader) error {
	drawn := make(chan struct{})
	go func() {
		lines := bufio.NewScanner(screen)
		lines.Split(bufio.ScanWords)
		for lines.Scan() && !strings.Contains(lines.Text(), "HANDLE") {
		}
		close(drawn)
		_, _ = io.Copy(io.Discard, screen)
	}()
	select {
	case <-drawn:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// endDash leaves the dashboard.
func endDash(cmd *exec.Cmd, screen *os.File) error {
	_ = cmd.Process.Signal(syscall.SIGTERM)
	ended := cmd.Wait()
	_ = screen.Close()
	if cmd.ProcessState.ExitCode() != int(syscall.SIGINT)+128 {
		return fmt.Errorf("the dashboard ended: %w", ended)
	}
	return nil
}

func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// usedWhile returns what a process uses while something is done.
func usedWhile(pid int, do func() error) (usage, error) {
	before, err := usageOf(pid)
	if err != nil {
		return usage{}, err
	}
	if err := do(); err != nil {
		return usage{}, err
	}
	after, err := usageOf(pid)
	return usage{cpu: after.cpu - before.cpu, children: after.children - before.children, faults: after.faults - before.faults}, err
}

// residentOf returns the resident memory of a process, in MB.
func residentOf(pid int) (int, error) {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/statm")
	if err != nil {
		return 0, err
	}
	var size, resident int
	if _, err := fmt.Sscan(string(text), &size, &resident); err != nil {
		return 0, err
	}
	return resident * os.Getpagesize() >> 20, nil
}

// turn changes what the files of an agent say: that a turn has begun, or ended.
type turn func(busy bool, n int) error

// turnsOf returns the turns of agents. They write what Claude and its hooks write.
func (w *world) turnsOf(agents int) (all []turn, err error) {
	nbs := filepath.Join(w.Project, ".nbs")
	for i := range agents {
		var record struct {
			SessionID string `json:"session_id"`
			PID       int
			Process   struct{ Invocation string }
		}
		data, err := os.ReadFile(filepath.Join(nbs, "sessions", handle(i)+".json"))
		if err != nil {
			return nil, err
		}
		if err := json.Unmarshal(data, &record); err != nil {
			return nil, err
		}
		report := fmt.Sprintf(reportText, record.Process.Invocation, record.SessionID)
		entryPath := filepath.Join(w.ConfigDir, "sessions", strconv.Itoa(record.PID)+".json")
		entry, err := os.ReadFile(entryPath)
		if err != nil {
			return nil, err
		}
		all = append(all, func(busy bool, n int) error {
			said, registered := strings.Replace(report, "160000", strconv.Itoa(160000+n), 1), string(entry)
			if busy {
				said = strings.NewReplacer(`"state": "idle"`, `"state": "busy"`, `"hook": "Stop"`, `"hook": "UserPromptSubmit"`).Replace(said)
				registered = strings.Replace(registered, `"status":"idle"`, `"status":"busy"`, 1)
			}
			return errors.Join(replace(filepath.Join(nbs, "status", handle(i)+".json"), said), replace(entryPath, registered))
		})
	}
	return all, nil
}

// play has one agent after the other begin a turn, and then end it.
func play(ctx context.Context, turns []turn, during time.Duration) error {
	tick := time.NewTicker(time.Second / changesPerSecond)
	defer tick.Stop()
	for n := range int(during.Seconds() * changesPerSecond) {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return ctx.Err()
		}
		if err := turns[n%len(turns)](n/len(turns)%2 == 0, n); err != nil {
			return err
		}
	}
	return nil
}

// replace writes a file so that a reader sees all of it or none.
func replace(path, text string) error {
	temp := path + ".bench"
	if err := os.WriteFile(temp, []byte(text), 0o600); err != nil {
		return err
	}
	return os.Rename(temp, path)
}
