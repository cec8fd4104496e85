package ui

import (
	"os"

	"nbs-worker/internal/platform/export"
	"nbs-worker/internal/team/observe"
)

// exported are the variables that a service needs, with their present values.
var exported = []string{"PATH", "NBS_CLAUDE", "NBS_CONTEXT_BANDS", "CLAUDE_CONFIG_DIR", "XDG_STATE_HOME", "TMUX_TMPDIR", "IS_SANDBOX"}

// Systemd returns what the units of a project need.
func Systemd(p *observe.Project) (export.Systemd, error) {
	server, err := p.Tmux(p.Socket)
	if err != nil {
		return export.Systemd{}, err
	}
	wanted := export.Systemd{Program: p.Program, Tmux: server.Program(), Project: p.Store.Project(), Socket: p.Socket, Pause: p.Store.Watching().PauseFile()}
	for _, name := range exported {
		if value := os.Getenv(name); value != "" {
			wanted.Env = append(wanted.Env, name+"="+value)
		}
	}
	return wanted, nil
}
