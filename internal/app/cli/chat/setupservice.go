package chat

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"nbs-worker/internal/app/cli/ui"
	"nbs-worker/internal/platform/export"
)

// The service managers for which the setup writes the service of serve.
const (
	systemd = "a unit for systemd"
	launchd = "a LaunchAgent"
)

// manager returns the service manager that a flag names, or that of this machine; "" without one.
func (w *setup) manager() string {
	switch {
	case w.unit:
		return systemd
	case w.agent, w.s.Project.Machine.IsMac():
		return launchd
	case hasSystemd():
		return systemd
	}
	return ""
}

// hasSystemd reports whether systemd runs this machine.
func hasSystemd() bool {
	_, err := os.Stat("/run/systemd/system")
	return err == nil
}

// writeService writes the service of serve, if the person wants one.
func (w *setup) writeService(ctx context.Context) (err error) {
	manager := w.manager()
	w.written = w.unit || w.agent
	if !w.written && w.dialog != nil && manager != "" {
		if w.written, err = w.dialog.Yes(ctx, "Write "+manager+", so that the bot runs by itself? [y/N] "); err != nil {
			return err
		}
	}
	switch {
	case !w.written:
		return nil
	case manager == launchd:
		return w.writeLaunchAgent()
	}
	return w.writeUnit()
}

func (w *setup) writeUnit() error {
	needs, err := ui.Team(w.s.Project)
	if err != nil {
		return err
	}
	units, err := needs.Systemd()
	if err != nil {
		return err
	}
	config, err := os.UserConfigDir()
	if err != nil {
		return err
	}
	path, err := writeOne(filepath.Join(config, "systemd", "user"), units, needs.ServeName())
	if err != nil {
		return err
	}
	w.say("unit: %s", path)
	w.say("to run it now, and at each login: systemctl --user daemon-reload; systemctl --user enable --now %s", filepath.Base(path))
	w.say("to run it from boot, and after a logout: loginctl enable-linger")
	return nil
}

func (w *setup) writeLaunchAgent() error {
	needs, err := ui.LaunchAgents(w.s.Project)
	if err != nil {
		return err
	}
	units, err := needs.Launchd()
	if err != nil {
		return err
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return err
	}
	path, err := writeOne(filepath.Join(home, "Library", "LaunchAgents"), units, needs.ServeName())
	if err != nil {
		return err
	}
	if err := needs.MakeLogs(); err != nil {
		return err
	}
	load, unload := export.Bootstrap(os.Getuid(), []string{path})
	w.say("LaunchAgent: %s", path)
	w.say("it runs from each login at the screen until the logout; to run it now: %s", load)
	w.say("to end it: %s", unload)
	return nil
}

// writeOne writes the service of this name, and returns its path.
func writeOne(folder string, units []export.Unit, name string) (path string, err error) {
	units = slices.DeleteFunc(units, func(u export.Unit) bool { return !strings.HasPrefix(u.Name, name+".") })
	paths, err := export.Write(folder, units)
	if err != nil {
		return "", err
	}
	return paths[0], nil
}
