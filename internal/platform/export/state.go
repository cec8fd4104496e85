package export

import (
	"context"
	"fmt"
	"os/exec"
	"strings"
	"time"
)

// State is what systemd says of a unit of the user.
type State struct {
	Installed bool
	Enabled   bool   // it is started at each login
	Active    string // active, inactive, failed, activating and so on
}

// StateOf asks systemd about a unit of the user. Errors: systemd did not tell, for instance because it does not run.
func StateOf(ctx context.Context, unit string) (State, error) {
	const limit = 5 * time.Second
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	out, err := exec.CommandContext(ctx, "systemctl", "--user", "show", "--property=LoadState,UnitFileState,ActiveState", "--", unit).Output()
	if err != nil {
		return State{}, fmt.Errorf("systemctl --user: %w", err)
	}
	said := map[string]string{}
	for line := range strings.Lines(string(out)) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), "=")
		said[name] = value
	}
	return State{Installed: said["LoadState"] == "loaded", Enabled: said["UnitFileState"] == "enabled", Active: said["ActiveState"]}, nil
}
