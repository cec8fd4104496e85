package agents

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/app/cli/ui/uitest"
	"nbs-worker/internal/sim/rig"
	"nbs-worker/internal/team/attention"
	"nbs-worker/internal/team/inspect"
)

// The last line of the first screen is the command that helps the first agent.
func TestFirstScreenNamesTheNextCommand(t *testing.T) {
	t.Parallel()
	now := time.Now()
	row := func(handle agent.Handle, status agent.Status, done time.Time) inspect.Row {
		r := rowOf(uitest.Record(handle))
		r.Record.Desired, r.Record.Started, r.Report.Done = agent.DesiredRunning, now.Add(-time.Hour), done
		status.SamePID, status.Age = status.State != agent.Dead, new(time.Minute)
		r.Status = status
		return r
	}
	asks := row("asks", agent.Status{State: agent.Waiting}, time.Time{})
	done := row("done", agent.Status{State: agent.Idle}, now.Add(-time.Second))
	down := row("down", agent.Status{State: agent.Dead, Cause: agent.Crashed}, time.Time{})
	idle := row("idle", agent.Status{State: agent.Idle}, time.Time{})
	busy := row("busy", agent.Status{State: agent.Busy}, time.Time{})
	for _, c := range []struct {
		rows []inspect.Row
		want string
	}{
		{[]inspect.Row{idle, asks}, "nbs-worker attach asks"},
		{[]inspect.Row{done, asks}, "nbs-worker next"},
		{[]inspect.Row{idle, done}, "nbs-worker logs done -n 1"},
		{[]inspect.Row{done, down}, "nbs-worker recover down"},
		{[]inspect.Row{idle}, "nbs-worker send idle TEXT"},
		{[]inspect.Row{idle, busy}, "nbs-worker logs busy -f"},
	} {
		judge := &attention.Judge{Bands: agent.DefaultBands, Now: now}
		rig.Equal(t, newGlance(c.rows, judge).next(nil), c.want, "with %d rows", len(c.rows))
	}
}

func TestPlaceIsTheBranchOfAWorktree(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write := func(name, text string) {
		path := filepath.Join(dir, name)
		rig.Must(t, os.MkdirAll(filepath.Dir(path), 0o700))
		rig.Must(t, os.WriteFile(path, []byte(text), 0o600))
	}
	write("main/.git/HEAD", "ref: refs/heads/main\n")
	write("main/.git/worktrees/fix/HEAD", "ref: refs/heads/fix/login\n")
	write("fix/.git", "gitdir: ../main/.git/worktrees/fix\n")
	write("loose/.git", "gitdir: "+filepath.Join(dir, "main/.git/worktrees/loose")+"\n")
	write("main/.git/worktrees/loose/HEAD", "0123456789012345678901234567890123456789\n")
	write("odd/.git", "something else\n")
	for folder, want := range map[string]string{"main": "main", "fix": "branch fix/login", "loose": "loose", "odd": "odd", "none": "none"} {
		row := rowOf(uitest.Record("alpha"))
		row.Record.Cwd = filepath.Join(dir, folder)
		rig.Equal(t, placeOf(dir)(&row), want, "place of %s", folder)
	}
	handed := rowOf(uitest.Record("alpha"))
	handed.Record.Cwd, handed.Report.Worktree = dir, &agent.Worktree{Name: "tidy", Branch: "worktree-tidy"}
	rig.Equal(t, placeOf(dir)(&handed), "branch worktree-tidy", "place that Claude has handed over")
}
