package cli

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"nbs-worker/internal/app/cli/ui"
	"nbs-worker/internal/app/cli/ui/uitest"
	"nbs-worker/internal/app/wire"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/sim/rig"
)

func TestExportWritesUnits(t *testing.T) {
	t.Parallel()
	project, dir := newProject(t), filepath.Join(t.TempDir(), "user")
	shown := run("--root", project, "export", "systemd", "--policy", "/p.yaml").want(t, 0)
	for _, want := range []string{"# nbs-tmux-", " --root " + project, " recover --all\n", " watch --policy /p.yaml\n", "Type=notify\n"} {
		rig.Check(t, strings.Contains(shown.out, want), "it does not hold %q:\n%s", want, shown.out)
	}
	for _, line := range [][]string{{"recover", "--all"}, {"watch", "--policy", "/p.yaml"}, {"serve"}} {
		cmd, args, err := Tree().Find(line)
		rig.Check(t, err == nil && cmd.ParseFlags(args) == nil, "a unit runs %q: %v", line, err)
	}
	r := runOn(ui.Streams{ErrTTY: true}, "--root", project, "export", "systemd", "--dir", dir).want(t, 0, "loginctl enable-linger", "to remove them: systemctl --user disable --now nbs-tmux-")
	paths := strings.Fields(r.out)
	rig.Check(t, len(paths) == 4 && filepath.Dir(paths[0]) == dir, "it printed %q", r.out)
	var units []wire.Unit
	r = run("--root", project, "export", "systemd", "--dir", dir, "--json").want(t, 0)
	if err := json.Unmarshal([]byte(r.out), &units); err != nil || len(units) != 4 {
		t.Fatalf("%v: %s", err, r.out)
	}
	for _, unit := range units {
		text, err := os.ReadFile(unit.Path)
		rig.Check(t, err == nil && string(text) == unit.Text, "%s: %v, %s", unit.Path, err, text)
	}
	rig.Must(t, os.WriteFile(units[0].Path, []byte("mine"), 0o600))
	run("--root", project, "export", "systemd", "--dir", dir).want(t, fail.Conflict, "exists, and nbs-worker export did not write it")
	run("--root", project, "export", "cron").want(t, fail.BadInput, "the argument systemd, launchd, slurm or kubernetes is needed")
}

// The files can be loaded and removed by the commands that are printed, wherever export was called.
func TestExportWritesLaunchAgents(t *testing.T) {
	state := rig.MemoryDir(t)
	t.Setenv("XDG_STATE_HOME", state)
	project, dir := newProject(t), filepath.Join(t.TempDir(), "Launch Agents")
	shown := run("--root", project, "export", "launchd", "--policy", "/p.yaml").want(t, 0)
	for _, want := range []string{"# nbs-recover-", "<!-- Made by nbs-worker export launchd", "<string>" + project + "</string>", "<string>/p.yaml</string>", "<key>XDG_STATE_HOME</key>"} {
		rig.Check(t, strings.Contains(shown.out, want), "it does not hold %q:\n%s", want, shown.out)
	}
	_, err := os.Stat(filepath.Join(state, "nbs-worker/logs"))
	rig.Check(t, os.IsNotExist(err), "only shown, and it made logs: %v", err)

	r := runOn(ui.Streams{ErrTTY: true}, "--root", project, "export", "launchd", "--dir", dir).want(t, 0)
	paths := strings.Split(strings.TrimSpace(r.out), "\n")
	rig.Equal(t, len(paths), 4, "files")
	words := "'" + strings.Join(paths, "' '") + "'"
	domain := fmt.Sprintf(" gui/%d ", os.Getuid())
	r.want(t, 0, "to start them now: launchctl bootstrap"+domain+words+"\n", "launchctl bootout"+domain+words+"; rm "+words+"\n")
	logs, err := filepath.Glob(filepath.Join(state, "nbs-worker/logs/nbs-*.log"))
	rig.Check(t, err == nil && len(logs) == 4, "the logs: %v, %v", logs, err)
	rig.MustBePrivate(t, filepath.Join(state, "nbs-worker"), 5)
	text, err := os.ReadFile(paths[2])
	rig.Check(t, err == nil && strings.Contains(string(text), logs[3]), "%v: %s", err, text)
	rig.Must(t, os.WriteFile(paths[3], []byte("<plist/>"), 0o600))
	run("--root", project, "export", "launchd", "--dir", dir).want(t, fail.Conflict, "exists, and nbs-worker export did not write it")
}

func TestExportWritesJobs(t *testing.T) {
	t.Parallel()
	project, dir := newProject(t, uitest.Record("alpha")), filepath.Join(t.TempDir(), "jobs")
	run("--root", project, "export", "slurm").want(t, fail.BadInput, "one handle is needed, 0 given")
	run("--root", project, "export", "slurm", "beta").want(t, fail.NotFound, "beta")
	shown := run("--root", project, "export", "slurm", "alpha").want(t, 0)
	for _, want := range []string{"#!/bin/bash\n# Made by nbs-worker export slurm; ", "\n#SBATCH --dependency=singleton\n", "\n#SBATCH -D \"" + project + "\"\n", "'run' 'alpha' --job \"slurm/$SLURM_CLUSTER_NAME/$SLURM_JOB_NAME\" &\n"} {
		rig.Check(t, strings.Contains(shown.out, want), "it does not hold %q:\n%s", want, shown.out)
	}
	written := run("--root", project, "export", "slurm", "alpha", "--dir", dir).want(t, 0)
	text, err := os.ReadFile(strings.TrimSpace(written.out))
	rig.Check(t, err == nil && string(text) == shown.out, "%v: %s", err, text)
	run("--root", project, "export", "slurm", "alpha", "--dir", dir).want(t, 0) // again
	run("--root", project, "export", "kubernetes", "alpha").want(t, fail.BadInput, "an image is needed for the container")
	var units []wire.Unit
	r := run("--root", project, "export", "kubernetes", "alpha", "--image", "team/agent:1", "--json").want(t, 0)
	err = json.Unmarshal([]byte(r.out), &units)
	rig.Check(t, err == nil && len(units) == 1 && strings.Contains(units[0].Text, "# Generated, not run"), "%v: %s", err, r.out)
	cmd, args, err := Tree().Find([]string{"run", "alpha", "--job", "slurm/main/nbs-alpha"})
	rig.Check(t, err == nil && cmd.ParseFlags(args) == nil, "what a job runs: %v", err)
}
