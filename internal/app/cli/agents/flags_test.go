package agents

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/spf13/cobra"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/app/cli/ui"
	"nbs-worker/internal/app/cli/ui/uitest"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/sim/rig"
	"nbs-worker/internal/team/launch"
	"nbs-worker/internal/team/supervisor"
)

// parseSpawn reads a command line of spawn and does not spawn.
func parseSpawn(t *testing.T, streams ui.Streams, args ...string) (supervisor.Spawn, error) {
	t.Helper()
	streams.Err = &strings.Builder{}
	f := &ui.Factory{Streams: streams}
	o := &spawnOptions{}
	cmd := &cobra.Command{
		Use: "spawn", SilenceErrors: true, SilenceUsage: true, Args: o.positional, RunE: func(*cobra.Command, []string) error { return nil },
	}
	o.bind(f, cmd)
	cmd.SetArgs(args)
	if err := cmd.Execute(); err != nil {
		return supervisor.Spawn{}, err
	}
	spawn, err := o.parse(f)
	if err == nil && o.start.promptFile != "" {
		err = readPrompt(o.start.promptFile, f.Streams.In, &spawn.Start)
	}
	return spawn, err
}

func TestSpawnFlags(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	for name, text := range map[string]string{"task.md": "Read\nPLAN.md \u2713\n", "blank.md": " \n"} {
		rig.Must(t, os.WriteFile(name, []byte(text), 0o600))
	}
	rig.Must(t, os.MkdirAll("lab/deep", 0o700))
	rig.Must(t, os.Symlink("lab", "link"))
	plainSpawn := supervisor.Spawn{UsualMode: agent.BypassPermissions, Spec: agent.Spec{Handle: "a", Env: map[string]string{}, Restart: agent.RestartPolicy{Policy: agent.RestartNo}}}
	plainSpawn.Wait, plainSpawn.Patience = 30*time.Second, true
	with := func(change func(*supervisor.Spawn)) supervisor.Spawn {
		spawn := plainSpawn
		change(&spawn)
		return spawn
	}
	for line, want := range map[string]supervisor.Spawn{
		"a":                                 plainSpawn,
		"a --budget $5/day":                 with(func(s *supervisor.Spawn) { s.Budget = "5.00/day" }),
		"a --budget off":                    plainSpawn,
		"a --model opus[1m]":                with(func(s *supervisor.Spawn) { s.Model = "opus[1m]" }),
		"a --model=exactly:sonet":           with(func(s *supervisor.Spawn) { s.Model = "sonet" }),
		"a --permission-mode plan":          with(func(s *supervisor.Spawn) { s.PermissionMode, s.UsualMode = "plan", "" }),
		"a --restart on-failure":            with(func(s *supervisor.Spawn) { s.Restart.Policy = agent.RestartOnFailure }),
		"a --cwd link/deep":                 with(func(s *supervisor.Spawn) { s.Cwd = filepath.Join(dir, "lab/deep") }),
		"a --env A=1 --env B=x=y --env A=2": with(func(s *supervisor.Spawn) { s.Env = map[string]string{"A": "2", "B": "x=y"} }),
		"a --session-id 4F0C2A53-0D0C-4B43-9E0A-2F6B8F5C9A11": with(func(s *supervisor.Spawn) { s.SessionID = uitest.SessionID }),
		"a Begin.":              with(func(s *supervisor.Spawn) { s.Prompt = "Begin." }),
		"a Begin. -- --verbose": with(func(s *supervisor.Spawn) { s.Prompt, s.ClaudeArgs = "Begin.", []string{"--verbose"} }),
		"a --prompt --model":    with(func(s *supervisor.Spawn) { s.Prompt = "--model" }),
		"a --prompt-file task.md": with(func(s *supervisor.Spawn) {
			s.Prompt, s.PromptFile = "Read\nPLAN.md \u2713", filepath.Join(dir, "task.md")
		}),
		"a --prompt-file -":                      with(func(s *supervisor.Spawn) { s.Prompt = "from stdin" }),
		"a --no-wait":                            with(func(s *supervisor.Spawn) { s.Wait = 0 }),
		"a --timeout 90s --trust":                with(func(s *supervisor.Spawn) { s.Wait, s.Patience, s.Trust = 90*time.Second, false, true }),
		"a --trust=link":                         with(func(s *supervisor.Spawn) { s.Trust, s.TrustDir = true, filepath.Join(dir, "lab") }),
		"a --trust=false":                        plainSpawn,
		"a --may-manage":                         with(func(s *supervisor.Spawn) { s.MayManage = true }),
		"a -- --add-dir /x --allowedTools Bash;": with(func(s *supervisor.Spawn) { s.ClaudeArgs = []string{"--add-dir", "/x", "--allowedTools", "Bash;"} }),
	} {
		got, err := parseSpawn(t, ui.Streams{In: strings.NewReader(" from stdin\n")}, strings.Fields(line)...)
		diff := cmp.Diff(want, got, cmpopts.IgnoreUnexported(launch.Start{}), cmpopts.IgnoreFields(launch.Start{}, "Progress"))
		rig.Check(t, diff == "" && err == nil, "spawn %s: %v, -want +got:\n%s", line, err, diff)
	}
	for line, want := range map[string]fail.Kind{
		"a --restart sometimes":      fail.BadInput,
		"a --model sonet":            fail.BadInput,
		"a --prompt-file missing.md": fail.NotFound,
		"a --prompt-file lab":        fail.BadInput,
		"a --prompt-file blank.md":   fail.BadInput,
		"a --prompt-file -":          fail.BadInput, // nothing comes
		"a --cwd missing":            fail.NotFound,
		"a --trust=missing":          fail.NotFound,
		"a --trust lab":              fail.BadInput, // it would be the prompt
	} {
		_, err := parseSpawn(t, ui.Streams{In: strings.NewReader("")}, strings.Fields(line)...)
		rig.Check(t, err != nil && fail.KindOf(err) == want, "spawn %s: %v; want kind %d", line, err, want)
	}
}

// A flag is stronger than the environment, and that than the default.
func TestSpawnDefaultsFromTheEnvironment(t *testing.T) {
	t.Setenv("NBS_MODEL", "haiku")
	t.Setenv("NBS_PERMISSION_MODE", "acceptEdits")
	got, err := parseSpawn(t, ui.Streams{}, "a")
	rig.Check(t, err == nil && got.Model == "haiku" && got.PermissionMode == "" && got.UsualMode == "acceptEdits", "from the environment: %+v, %v", got, err)
	got, err = parseSpawn(t, ui.Streams{}, "a", "--model", "opus", "--permission-mode", "plan")
	rig.Check(t, err == nil && got.Model == "opus" && got.PermissionMode == "plan", "from the flags: %+v, %v", got, err)
	t.Setenv("NBS_PERMISSION_MODE", "yolo")
	_, err = parseSpawn(t, ui.Streams{}, "a")
	rig.Check(t, fail.KindOf(err) == fail.BadInput && err != nil, "a wrong word in the environment: %v; want bad input", err)
}

func TestResumeModelIsAskedFor(t *testing.T) {
	t.Parallel()
	f := &ui.Factory{Streams: ui.Streams{Err: &strings.Builder{}}}
	o := resumeOptions{start: startOptions{timeout: time.Second}}
	got, err := o.parse(f)
	rig.Check(t, got.Model == nil && err == nil, "without --model: %v, %v; want the recorded one kept", got.Model, err)
	o.modelGiven = true
	got, err = o.parse(f)
	rig.Check(t, got.Model != nil && *got.Model == "" && err == nil, "with --model '': %v, %v; want Claude's choice", got.Model, err)
	o.model, o.fresh, o.force = "opus", true, true
	got, err = o.parse(f)
	rig.Check(t, got.Model != nil && *got.Model == "opus" && got.Fresh && got.Force && err == nil, "with all: %+v, %v", got, err)
}
