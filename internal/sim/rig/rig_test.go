package rig

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestMain(m *testing.M) { os.Exit(Main(m, 5*time.Minute)) }

func TestEnvIsScrubbed(t *testing.T) {
	t.Setenv("CLAUDE_CODE_CHILD_SESSION", "1")
	t.Setenv("TMUX", "somewhere")
	w := NewWorld(t, "http://127.0.0.1:1")
	env := w.Env("EXTRA=1", "ANTHROPIC_API_KEY", "HOME=/elsewhere")
	for _, want := range []string{"EXTRA=1", "HOME=/elsewhere", "CLAUDE_CONFIG_DIR=" + w.ConfigDir} {
		if !slices.Contains(env, want) {
			t.Errorf("missing %s in %v", want, env)
		}
	}
	for _, e := range env {
		for _, bad := range []string{"CLAUDE_CODE_CHILD_SESSION", "TMUX=", "ANTHROPIC_API_KEY"} {
			if strings.HasPrefix(e, bad) {
				t.Errorf("left over: %s", e)
			}
		}
	}
}

func TestConfigKnowsTheKey(t *testing.T) {
	dir := t.TempDir()
	Config(t, dir, ConfigOptions{Trusted: []string{"/a"}, KeyRejected: true})
	data, err := os.ReadFile(filepath.Join(dir, ".claude.json"))
	if err != nil {
		t.Fatal(err)
	}
	var c struct {
		Responses struct{ Approved, Rejected []string } `json:"customApiKeyResponses"`
		Projects  map[string]struct{ HasTrustDialogAccepted bool }
	}
	if err := json.Unmarshal(data, &c); err != nil {
		t.Fatal(err)
	}
	if len(c.Responses.Approved) != 0 || len(c.Responses.Rejected) != 1 || len(c.Responses.Rejected[0]) != 20 || !c.Projects["/a"].HasTrustDialogAccepted {
		t.Errorf("config = %s", data)
	}
}

func TestStandInRunsUnderItsName(t *testing.T) {
	w := NewWorld(t, "")
	cmd := exec.CommandContext(t.Context(), StandIn(t), "--version")
	cmd.Env = w.Env("NBS_SIM_CLAUDE=version=2.1.100")
	out, err := cmd.CombinedOutput()
	if err != nil || string(out) != "2.1.100 (Claude Code)\n" {
		t.Errorf("%q, %v", out, err)
	}
}

func TestWorldEndsWhatWasLeft(t *testing.T) {
	left := map[string]*exec.Cmd{"": nil, "HOME=/elsewhere": nil, "CLAUDE_CONFIG_DIR=/elsewhere": nil}
	var root string
	t.Run("leaves processes", func(t *testing.T) {
		w := NewWorld(t, "")
		root = w.Root
		for change := range left {
			cmd := exec.Command(Sim(t), "sleep")
			cmd.Env = w.Env(change)
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			left[change] = cmd
		}
	})
	for change, cmd := range left {
		if err := cmd.Wait(); err == nil || err.Error() != "signal: killed" {
			t.Errorf("the process with %q ended by %v", change, err)
		}
	}
	if _, err := os.Stat(root); err == nil {
		t.Errorf("%s is still there", root)
	}
}

func TestPollGivesUp(t *testing.T) {
	calls := 0
	ok, detail := poll(50*time.Millisecond, func() (bool, string) { calls++; return false, "never" })
	if ok || detail != "never" || calls < 2 {
		t.Errorf("poll = %v, %q after %d calls", ok, detail, calls)
	}
}
