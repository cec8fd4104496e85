package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/clipperhouse/displaywidth"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/app/cli/ui"
	"nbs-worker/internal/app/cli/ui/uitest"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/sim/rig"
)

func TestSessionFitsEightyColumns(t *testing.T) {
	t.Parallel()
	alpha := uitest.Record("alpha")
	alpha.Cwd, alpha.Desired = "/srv/"+strings.Repeat("long/", 30), agent.DesiredRunning
	alpha.Exits = []agent.Exit{{At: time.Now(), Code: 1, UptimeS: 9, LastScreen: strings.Repeat("─", 120) + "\n> words\n" + strings.Repeat("─", 120)}}
	project := newProject(t, alpha)
	deep := filepath.Join(project, strings.Repeat("deep/", 14))
	rig.Must(t, os.MkdirAll(deep, 0o700))
	r := runOn(ui.Streams{OutTTY: true, Width: 80}, "--root", project, "session", "alpha").want(t, 0)
	uitest.MustFit(t, r.out, "\n                 nbs-worker --root "+project+" resume alpha\n", "────…\n", "> words")
	wide := runOn(ui.Streams{OutTTY: true}, "--root", project, "session", "alpha").want(t, 0)
	rig.Check(t, strings.Contains(wide.out, strings.Repeat("─", 120)) && strings.Contains(wide.out, alpha.Cwd+"\n"), "of unknown width:\n%s", wide.out)
}

// Without a command there is the first screen on a terminal, and the help in a pipe.
func TestFirstScreenFitsEightyColumns(t *testing.T) {
	t.Parallel()
	var all []agent.Record
	for _, name := range strings.Fields("a b c d e f g h i j k l m n o p q") {
		r := uitest.Record(agent.Handle(name))
		r.InitialPrompt, r.Desired = "設計を書き直す "+strings.Repeat("and write\x1b[31m it ", 20), agent.DesiredStopped
		all = append(all, r)
	}
	all[16].Desired, all[16].Cwd = agent.DesiredRunning, "/srv/"+strings.Repeat("long/", 9)
	project := newProject(t, all...)
	terminal := ui.Streams{OutTTY: true, Width: 80}
	out := runOn(terminal, "--root", project).want(t, 0).out
	lines := strings.Split(strings.TrimSpace(out), "\n")
	rig.Check(t, len(lines) <= 20 && strings.HasSuffix(lines[0], ": 17 agents, 1 needs you"), "%d lines:\n%s", len(lines), out)
	for _, line := range lines[:16] {
		rig.Check(t, displaywidth.String(line) <= 80 && !strings.ContainsRune(line, '\x1b'), "%d columns: %q", displaywidth.String(line), line)
	}
	rig.Check(t, strings.HasPrefix(lines[2], "q  ") && strings.Contains(lines[2], " down ") && strings.Contains(lines[3], "設計"), "it is\n%s", out)
	rig.Check(t, strings.HasSuffix(out, "and 3 more: nbs-worker --root "+project+" list\nnext: nbs-worker --root "+project+" recover q\n"), "it is\n%s", out)
	none := newProject(t)
	out = runOn(terminal, "--root", none).want(t, 0).out
	rig.Check(t, strings.Contains(out, ": no agents\nto start an agent: nbs-worker --root "+none+" spawn NAME 'TASK'\n"), "it is\n%s", out)
	rig.Must(t, os.WriteFile(filepath.Join(none, "team.yaml"), []byte("agents: {alice: }\n"), 0o600))
	out = runOn(terminal, "--root", none).want(t, 0).out
	rig.Check(t, strings.Contains(out, ": no agents\nto start the team of team.yaml: nbs-worker --root "+none+" up\nto start an agent: "), "with a team:\n%s", out)
	rig.Must(t, os.RemoveAll(filepath.Join(none, ".nbs")))
	runOn(terminal, "--root", none, "list").want(t, fail.NotFound, "hint: to start the team of team.yaml: nbs-worker --root "+none+" up\n")
	rig.Check(t, strings.Contains(run("--root", project).want(t, 0).out, "Usage:"), "no help in a pipe")
	runOn(terminal, "--root", t.TempDir()).want(t, fail.NotFound, "no .nbs folder")
}

// Outside of a project there are the user's projects, and how to begin.
func TestFirstScreenOutsideOfAProject(t *testing.T) {
	t.Parallel()
	project := newProject(t, uitest.Record("alpha"))
	run("--root", project, "stop", "alpha").want(t, 0)
	out := runOn(ui.Streams{OutTTY: true, Width: 80}).want(t, 0).out
	lines := strings.Split(strings.TrimSpace(out), "\n")
	rig.Check(t, strings.HasPrefix(out, "no project here; yours: ") && len(lines) <= 20, "%d lines:\n%s", len(lines), out)
	for _, line := range lines {
		rig.Check(t, displaywidth.String(line) <= 80, "%d columns: %q", displaywidth.String(line), line)
	}
	rig.Check(t, strings.HasSuffix(out, "\nto start an agent: nbs-worker spawn NAME 'TASK'\nto see and answer all: nbs-worker dash\nto go to one: nbs-worker attach NAME\n"), "it is\n%s", out)
}
