package doctor

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/platform/machine/local"
	"nbs-worker/internal/platform/tmux"
	"nbs-worker/internal/team/inspect"

	"nbs-worker/internal/sim/rig"
)

func TestJudgeSettings(t *testing.T) {
	t.Parallel()
	all := judgeSettings("", tmux.Settings{"session-created[0]": "rename-session x", "exit-unattached": "off"})
	rig.Check(t, len(all) == 1 && all[0].Level == Warning, "%+v", all)
}

func TestJudgeLogin(t *testing.T) {
	t.Parallel()
	const session, service = "/user.slice/user-1000.slice/session-3.scope", "/user.slice/user-1000.slice/user@1000.service/tmux.slice/tmux-spawn-1.scope"
	for _, c := range []struct {
		name, group, user string
		lingers           bool
		level             Level
	}{
		{"a session", session, "ann", true, Note},
		{"root is spared", session, "root", false, ""},
		{"a service of the user", service, "ann", false, Warning},
		{"a service of one who lingers", service, "ann", true, ""},
		{"a service of the system", "/system.slice/nbs.service", "ann", false, ""},
	} {
		var found Finding
		if all := judgeLogin("the server", c.group, c.user, c.lingers); len(all) > 0 {
			found = all[0]
		}
		rig.Check(t, found.Level == c.level, "%s: %+v", c.name, found)
		rig.Check(t, c.level == "" || strings.Contains(strings.Join(found.Fix, "\n"), "loginctl enable-linger ann"), "%s: %q", c.name, found.Fix)
	}
}

func TestEachCheckHasANameOfItsOwn(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, c := range checks {
		rig.Check(t, !seen[c.id] && strings.Contains(c.id, ".") && c.run != nil, "%+v", c.id)
		seen[c.id] = true
	}
}

// A repair that was made but could not be journaled is reported as done and as a failure.
func TestRepairThatIsDoneAndFails(t *testing.T) {
	t.Parallel()
	full := errors.New("the disk is full")
	done, failed := repair(t.Context(), findings{
		{repair: func(context.Context) (string, error) { return "moved it aside", full }},
		{What: "not by itself"},
		{repair: func(context.Context) (string, error) { return "", nil }},
	})
	rig.Equal(t, fmt.Sprint(done, failed), "[moved it aside] [the disk is full]", "what is told")
}

// After an upgrade, launchers run the old version; each one is named.
func TestLaunchersOfAReplacedVersionAreNamed(t *testing.T) {
	t.Parallel()
	program := filepath.Join(t.TempDir(), "sleep")
	sleep, err := exec.LookPath("sleep")
	rig.Must(t, err)
	binary, err := os.ReadFile(sleep)
	rig.Must(t, err)
	rig.Must(t, os.WriteFile(program, binary, 0o700))
	cmd := exec.Command(program, "600")
	rig.Must(t, cmd.Start())
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	id, err := local.New().Identify(cmd.Process.Pid)
	rig.Must(t, err)
	launched := inspect.Row{Handle: "alpha"}
	launched.Record.Process = &agent.Process{Identity: id, Launcher: id.Identified}
	rows := []inspect.Row{launched, {Handle: "adopted"}}
	all := judgeLaunchers(local.New(), rows)
	rig.Check(t, len(all) == 0, "while it is there: %+v", all)
	rig.Must(t, os.Remove(program))
	all = judgeLaunchers(local.New(), rows)
	rig.Check(t, len(all) == 1 && all[0].Level == Note && strings.HasSuffix(all[0].What, ": alpha") && strings.HasSuffix(all[0].Fix[0], ": nbs-worker resume alpha --force"), "after an upgrade: %+v", all)
}
