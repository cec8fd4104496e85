package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/app/cli/ui"
	"nbs-worker/internal/app/cli/ui/uitest"
	"nbs-worker/internal/app/wire"
	"nbs-worker/internal/sim/rig"
)

func TestDryRunChangesNothing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	r := runOn(ui.Streams{ErrTTY: true}, "--root", dir, "spawn", "alpha", "--dry-run", "--model", "opus", "--prompt", "It's; $(touch PWN)").want(t, 0, "dry run: nothing was changed", "nbs-alpha-live")
	rig.Check(t, !strings.Contains(r.out, "hooks") && strings.Contains(r.out, " --settings '{...}' "), "our hooks are not folded: %s", r.out)
	for _, want := range []string{"cd " + dir + " && ", " --session-id ", " --model opus --permission-mode bypassPermissions ", ` -- 'It'\''s; $(touch PWN)'` + "\n"} {
		rig.Check(t, strings.Contains(r.out, want), "stdout does not hold %q: %s", want, r.out)
	}
	entries, _ := os.ReadDir(dir)
	rig.Check(t, len(entries) == 0, "it made %v", entries)
}

func TestDryRunAsJSON(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	r := run("--root", dir, "spawn", "alpha", "--dry-run", "--json", "--", "--add-dir", "/x y").want(t, 0)
	var plan wire.Plan
	rig.Must(t, json.Unmarshal([]byte(r.out), &plan))
	if plan.Handle != "alpha" || plan.Opened != "new" || plan.Cwd != dir || plan.TmuxSession != "nbs-alpha-live" || plan.Args[len(plan.Args)-1] != "/x y" {
		t.Errorf("the plan is %+v", plan)
	}
	_, err := agent.ParseSessionID(string(plan.SessionID))
	rig.Check(t, err == nil, "%v", err)
}

func TestDryRunOfAResumeShowsWhatWouldRun(t *testing.T) {
	t.Parallel()
	alpha := uitest.Record("alpha")
	alpha.ProjectRoot = t.TempDir()
	alpha.ClaudeArgs = []string{"--append-system-prompt", "\x1b[2J"}
	project := newProject(t, alpha)
	before, err := os.ReadFile(filepath.Join(project, ".nbs/sessions/alpha.json"))
	rig.Must(t, err)
	r := run("--root", project, "resume", "alpha", "--dry-run").want(t, 0)
	rig.Check(t, strings.Contains(r.out, "--session-id "+string(uitest.SessionID)) && !strings.ContainsRune(r.out, '\x1b'), "stdout is %q", r.out)
	if after, err := os.ReadFile(filepath.Join(project, ".nbs/sessions/alpha.json")); string(after) != string(before) || err != nil {
		t.Errorf("the record was changed: %s, %v", after, err)
	}
}
