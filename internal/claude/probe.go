package claude

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/claude/cmdline"
	"nbs-worker/internal/claude/live"
)

// Probe is a claude that is started in a folder of its own, with the settings of an agent. It shows whether its files
// and hooks are as expected. It has no account.
type Probe struct {
	Dir     string // configuration, working directory and all; thrown away after
	Session agent.SessionID
}

// Prepare answers the dialogs of a first start, and writes the program that the probe's hooks and status line call
// instead of nbs-worker. The program stores its input in a file.
func (p Probe) Prepare() error {
	answers, err := json.Marshal(map[string]any{
		"hasCompletedOnboarding": true, "theme": "dark",
		"customApiKeyResponses": map[string][]string{"approved": {scratchKey[len(scratchKey)-20:]}, "rejected": {}},
		"projects":              map[string]any{p.Dir: map[string]bool{"hasTrustDialogAccepted": true}},
	})
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(p.Dir, ".claude.json"), answers, 0o600); err != nil {
		return err
	}
	recorder := "#!/bin/sh\nexec cat >'" + strings.ReplaceAll(filepath.Join(p.Dir, "said."), "'", `'\''`) + "'\"$1.$$\"\n"
	return os.WriteFile(p.recorder(), []byte(recorder), 0o700) //nolint:gosec // it is a program
}

func (p Probe) recorder() string { return filepath.Join(p.Dir, "recorder") }

// Args returns the arguments of the probe: those of an agent.
func (p Probe) Args() []string {
	spec := &agent.Spec{SessionID: p.Session, Model: "sonnet", PermissionMode: agent.BypassPermissions}
	return cmdline.Args(spec, cmdline.OpenNew, "", Settings(p.recorder(), Closed{}, Chosen{}, false))
}

// Heard is what claude has sent to the recorder so far.
type Heard struct {
	Started    bool // by the hook SessionStart, with the session's own id
	Ended      bool // by the hook SessionEnd, with the same
	StatusLine bool // with a session's id
}

// Heard reads what the recorder has stored.
func (p Probe) Heard() Heard {
	var heard Heard
	said, _ := filepath.Glob(filepath.Join(p.Dir, "said.*")) // a folder of our making: the pattern is well formed
	for _, path := range said {
		data, err := os.ReadFile(path)
		var event struct {
			SessionID agent.SessionID `json:"session_id"`
			Name      string          `json:"hook_event_name"`
		}
		if err != nil || json.Unmarshal(data, &event) != nil || event.SessionID != p.Session {
			continue // not written to its end yet
		}
		heard.StatusLine = heard.StatusLine || strings.HasPrefix(filepath.Base(path), "said.statusline.")
		heard.Started = heard.Started || event.Name == "SessionStart"
		heard.Ended = heard.Ended || event.Name == "SessionEnd"
	}
	return heard
}

// Registered returns the probe's entry in its own registry.
func (p Probe) Registered() (live.Entry, bool) {
	config, err := ConfigAt(p.Dir)
	if err != nil {
		return live.Entry{}, false
	}
	open, err := config.Registry().OpenOn(p.Session)
	if err != nil || len(open) == 0 {
		return live.Entry{}, false
	}
	return open[0], true
}
