package doctor

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"nbs-worker/internal/claude"
	"nbs-worker/internal/platform/machine/local"
	"nbs-worker/internal/sim/rig"
	"nbs-worker/internal/team/observe"
)

func TestJudgeLogin(t *testing.T) {
	t.Parallel()
	const session, service = "/user.slice/user-1000.slice/session-3.scope", "/user.slice/user-1000.slice/user@1000.service/tmux.slice/tmux-spawn-1.scope"
	for _, c := range []struct {
		name, group, user string
		lingers, kills    bool
		unknown           error
		level             Level
	}{
		{"a session that is killed", session, "ann", true, true, nil, Failure},
		{"a session that is spared", session, "ann", false, false, nil, ""},
		{"not known", session, "ann", true, false, errors.New("no bus"), Note},
		{"root is spared", session, "root", false, true, nil, ""},
		{"a service of the user", service, "ann", false, false, nil, Warning},
		{"a service of one who lingers", service, "ann", true, true, nil, ""},
		{"a service of the system", "/system.slice/nbs.service", "ann", false, true, nil, ""},
	} {
		var found Finding
		if all := judgeLogin("the server", c.group, c.user, c.lingers, c.kills, c.unknown); len(all) > 0 {
			found = all[0]
		}
		rig.Check(t, found.Level == c.level, "%s: %+v", c.name, found)
		rig.Check(t, c.level == "" || strings.Contains(strings.Join(found.Fix, "\n"), "loginctl enable-linger ann"), "%s: %q", c.name, found.Fix)
	}
}

// A caller that waits for doctor is not kept by a claude that hangs.
func TestAClaudeThatHangs(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	program := filepath.Join(dir, "claude")
	rig.WriteProgram(t, program, "#!/bin/sh\nexec sleep 300\n")
	d := &examination{
		project: &observe.Project{Env: []string{claude.BinaryVariable + "=" + program}, Machine: local.New()}, scratch: dir,
		Options: Options{Patience: 50 * time.Millisecond},
	}
	said := d.askClaude(t.Context())
	d.claude = func() saidClaude { return said }
	found := d.claudeVersion(t.Context())
	rig.Check(t, len(found) == 1 && strings.HasSuffix(found[0].What, "did not print its version in time"), "%+v", found)
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
