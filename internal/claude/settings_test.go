package claude

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"nbs-worker/internal/sim/rig"
)

// commandsOf are the hook commands, of the start of a session and of all else, and the status line command of settings.
func commandsOf(t *testing.T, settings string) (start, hook, statusLine string) {
	t.Helper()
	var read struct {
		Skip  bool `json:"skipDangerousModePermissionPrompt"`
		Hooks map[string][]struct {
			Hooks []struct{ Type, Command string }
		}
		StatusLine struct{ Type, Command string }
	}
	rig.Must(t, json.Unmarshal([]byte(settings), &read))
	rig.Check(t, read.Skip && len(read.Hooks) == len(reported) && read.StatusLine.Type == "command", "settings: %s", settings)
	return read.Hooks["SessionStart"][0].Hooks[0].Command, read.Hooks["Stop"][0].Hooks[0].Command, read.StatusLine.Command
}

// Whatever became of the program, the agent sees nothing of it, but what it is told when it starts.
func TestReportingNeverFailsTheAgent(t *testing.T) {
	t.Parallel()
	elsewhere := filepath.Join(t.TempDir(), "it's nbs; $(x)")
	rig.WriteProgram(t, elsewhere, "#!/bin/sh\necho called \"$1\"; cat; echo complaint >&2")
	broken := filepath.Join(t.TempDir(), "broken")
	rig.WriteProgram(t, broken, "#!/bin/sh\necho complaint >&2; exit 2")
	onPath := t.TempDir()
	rig.Must(t, os.Symlink(elsewhere, filepath.Join(onPath, "nbs-worker")))
	tools := filepath.Dir(must(exec.LookPath("cat")))
	for what, c := range map[string]struct{ program, path, want string }{
		"it is where it was":           {elsewhere, tools, "called statusline\n{}"},
		"it is gone":                   {elsewhere + ".gone", t.TempDir(), ""},
		"it is gone, one on the PATH":  {elsewhere + ".gone", onPath + ":" + tools, "called statusline\n{}"},
		"it cannot be run":             {t.TempDir(), t.TempDir(), ""},
		"it fails as hooks that block": {broken, t.TempDir(), ""},
		"its path is not known":        {"", t.TempDir(), ""},
	} {
		start, hook, statusLine := commandsOf(t, Settings(c.program, Closed{}, Chosen{}, false))
		for command, want := range map[string]string{start: strings.Replace(c.want, "statusline", "hook", 1), hook: "", statusLine: c.want} {
			cmd := exec.Command("/bin/sh", "-c", command)
			cmd.Env = []string{"PATH=" + c.path}
			in, err := os.CreateTemp(t.TempDir(), "")
			if err == nil {
				_, err = in.WriteString("{}")
			}
			if err == nil {
				_, err = in.Seek(0, 0)
			}
			cmd.Stdin = in
			out, runErr := cmd.CombinedOutput()
			rig.Check(t, err == nil && runErr == nil && string(out) == want, "%s: %s: %v, %v, %q; want %q", what, command, err, runErr, out, want)
		}
	}
}

// What newer versions do by themselves is off, unless the user's own settings settle it, in either way.
func TestWhatClaudeDoesByItselfIsTheUsersChoice(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                                       `{"idleCompaction":false,"autoContinueAtUsageLimit":false}`,
		"{":                                      `{"idleCompaction":false,"autoContinueAtUsageLimit":false}`,
		`{}`:                                     `{"idleCompaction":false,"autoContinueAtUsageLimit":false}`,
		`{"idleCompaction":true,"theme":"dark"}`: `{"autoContinueAtUsageLimit":false}`,
		`{"autoContinueAtUsageLimit":false}`:     `{"idleCompaction":false}`,
		`{"autoContinueAtUsageLimit":true,"idleCompaction":false}`:  `{}`,
		`{"autoContinueAtUsageLimit":"yes","idleCompaction":false}`: `{"idleCompaction":false,"autoContinueAtUsageLimit":false}`, // Claude refuses it
	} {
		config := Config{dir: t.TempDir()}
		if text != "" {
			rig.Must(t, os.WriteFile(config.SettingsFile(), []byte(text), 0o600))
		}
		set := func(extraArgs ...string) string {
			var passed struct {
				Idle *bool `json:"idleCompaction,omitempty"`
				Auto *bool `json:"autoContinueAtUsageLimit,omitempty"`
			}
			rig.Must(t, json.Unmarshal([]byte(Settings("", Closed{}, config.ChosenByUser(extraArgs), false)), &passed))
			out, err := json.Marshal(passed)
			rig.Must(t, err)
			return string(out)
		}
		rig.Equal(t, set(), want, "%s", text)
		rig.Equal(t, set("--setting-sources", "project"), `{"idleCompaction":false,"autoContinueAtUsageLimit":false}`, "%s, which claude does not read", text)
	}
}

func must(path string, err error) string {
	if err != nil {
		panic(err)
	}
	return path
}
