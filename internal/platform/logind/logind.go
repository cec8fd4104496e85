// Package logind asks systemd's login manager what it does when a login ends.
package logind

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"
)

// Setting is the command that prints whether a login that ends kills its processes: "b true" or "b false".
const Setting = "busctl get-property org.freedesktop.login1 /org/freedesktop/login1 org.freedesktop.login1.Manager KillUserProcesses"

// KillsProcesses reports whether the end of a login kills its processes. Errors: the login manager did not tell.
func KillsProcesses(ctx context.Context) (bool, error) {
	const limit = 2 * time.Second // busctl waits for 25
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	words := strings.Fields(Setting)
	out, err := exec.CommandContext(ctx, words[0], words[1:]...).Output()
	if err != nil {
		return false, fmt.Errorf("busctl: %w", err)
	}
	switch answer := strings.TrimSpace(string(out)); answer {
	case "b true":
		return true, nil
	case "b false":
		return false, nil
	default:
		return false, fmt.Errorf("busctl printed %.40q", answer)
	}
}

// Lingers reports whether a user's services run from boot, and go on after the user's last login.
func Lingers(ctx context.Context, name string) bool {
	const limit = 2 * time.Second
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	if out, err := exec.CommandContext(ctx, "loginctl", "show-user", "--property=Linger", "--value", "--", name).Output(); err == nil {
		return strings.TrimSpace(string(out)) == "yes"
	}
	_, err := os.Stat("/var/lib/systemd/linger/" + name)
	return err == nil
}
