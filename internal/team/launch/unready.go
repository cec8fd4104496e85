package launch

import (
	"context"
	"fmt"
	"strings"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/claude/screen"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
)

// unready returns the error for a claude that runs but was not ready in time. It says what was seen of it.
func (w *starting) unready(ctx context.Context) error {
	handle := w.record.Handle
	seen, isClaude := w.seen(ctx)
	err := fail.Errorf(fail.TimedOut, "claude was not ready after %s, and was left running: %s", w.limit, seen).
		Hint("look at it: nbs-worker attach %s, or from a script: nbs-worker session %s", handle, handle)
	if !isClaude {
		err = err.Hint("check that it is Claude Code: %s --version", human.ShellWord(w.plan.Program))
	}
	if load, cores := w.Project.Machine.Load(); load > float64(2*cores) {
		err = err.Hint("this machine is busy, and starts take long: load %.0f on %s", load, human.Count(cores, "core"))
	}
	return err.Hint("to wait for it: nbs-worker wait %s --for ready,waiting --timeout 5m", handle)
}

// seen returns what was seen of a claude that is not ready, and whether that proves that it is a claude.
func (w *starting) seen(ctx context.Context) (words string, isClaude bool) {
	all := []string{fmt.Sprintf("pid %d runs", w.record.PID)}
	if _, err := w.Project.Registered(&w.record); err == nil {
		all, isClaude = append(all, "it is in Claude's registry, without a state yet"), true
	} else {
		all = append(all, "it is not in Claude's registry yet")
	}
	shown, err := w.Project.Screen(ctx, &w.record)
	switch reading := screen.Read(shown.Text); {
	case err != nil:
		all = append(all, "its screen cannot be read: "+human.OneLine(err.Error()))
	case strings.TrimSpace(shown.Text) == "":
		all = append(all, "its screen is blank")
	case reading.State != agent.Unknown:
		all, isClaude = append(all, "its screen shows Claude, "+string(reading.State)), true
	default:
		all = append(all, "its screen shows nothing known of Claude")
	}
	return strings.Join(all, ", "), isClaude
}

// quoteScreen quotes claude's last words: a single line inline, several lines on their own.
func quoteScreen(screen string) string {
	var lines []string
	for line := range strings.Lines(screen) {
		if line = strings.TrimRight(line, " \n"); line != "" {
			lines = append(lines, line)
		}
	}
	switch len(lines) {
	case 0:
		return " and said nothing"
	case 1:
		return ": " + strings.TrimSpace(lines[0])
	default:
		return ". It said:\n  " + strings.Join(lines, "\n  ")
	}
}
