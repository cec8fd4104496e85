package tmux

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// OldestUsable is the oldest tmux that nbs-worker can use: new-session -e came with it.
const OldestUsable = "3.2"

// ConfigLimit is how long a server may take to read the user's configuration.
const ConfigLimit = 20 * time.Second

// ShortTemp returns the folder for scratch folders with sockets: the path of a socket must be short.
func ShortTemp() string {
	const room = 60
	if dir := os.TempDir(); len(dir) <= room {
		return dir
	}
	return "/tmp"
}

// Scratch returns a client for a separate server, whose socket is in a temporary folder, and that reads no
// configuration. Errors: Unfit when tmux is not installed.
func Scratch(dir string) (*Client, error) {
	client, err := Configured(dir)
	if err != nil {
		return nil, err
	}
	client.socket = append(client.socket, "-f", "/dev/null")
	return client, nil
}

// Configured is [Scratch] for a server that reads the user's configuration, as an agent's first server does.
func Configured(dir string) (*Client, error) {
	return NewServers().Client(filepath.Join(dir, "tmux"))
}

// Version returns the version of the tmux program, such as "3.3a". It asks no server.
func (c *Client) Version(ctx context.Context) (string, error) {
	printed, err := c.run(ctx, "/", "-V")
	if err != nil {
		return "", err
	}
	return strings.TrimPrefix(strings.TrimSpace(printed), "tmux "), nil
}

// TooOld reports whether a version of tmux is older than [OldestUsable]. An unreadable version, such as "master",
// counts as new.
func TooOld(version string) bool {
	var major, minor int
	_, err := fmt.Sscanf(strings.TrimPrefix(version, "next-"), "%d.%d", &major, &minor)
	return err == nil && (major < 3 || major == 3 && minor < 2)
}

// KillServer ends the server and all of its sessions. It must only be used for servers that this program started.
func (c *Client) KillServer(ctx context.Context) error {
	_, err := c.run(ctx, "/", "kill-server")
	if errors.Is(err, ErrNoServer) {
		return nil
	}
	return err
}

// Settings are options and hooks as a server has them: global ones, and its own. The value
// of a hook is a command.
type Settings map[string]string

var settingsWords = []string{
	"show-options", "-s", ";", "show-options", "-g", ";", "show-options", "-gw", ";", "show-hooks", "-g", ";", "show-hooks", "-gw",
}

// Settings reads the settings of a server, and changes none. Errors: [ErrNoServer].
func (c *Client) Settings(ctx context.Context) (Settings, error) {
	out, err := c.run(ctx, "/", settingsWords...)
	if err != nil {
		return nil, err
	}
	return parseSettings(out), nil
}

// ConfiguredSettings returns the settings of a new server, which is started for this and ended at once. It may take
// as long to read the user's configuration as an agent's server.
func ConfiguredSettings(ctx context.Context) (Settings, error) {
	dir, err := os.MkdirTemp(ShortTemp(), "nbs-tmux-")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	client, err := Configured(dir)
	if err != nil {
		return nil, err
	}
	defer func() { _ = client.KillServer(context.WithoutCancel(ctx)) }() // with exit-empty off it would stay
	out, err := client.runWithin(ctx, ConfigLimit, "/", append([]string{"start-server", ";"}, settingsWords...)...)
	if err != nil {
		return nil, err
	}
	return parseSettings(out), nil
}

func parseSettings(out string) Settings {
	settings := Settings{}
	for line := range strings.Lines(out) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), " ")
		settings[name] = value
	}
	return settings
}

// Enders returns the hooks of the settings that end sessions, windows or panes, sorted. With a hook in atBegin, which
// runs at the beginning of a session, no start succeeds.
func (s Settings) Enders() (atBegin, later []string) {
	for name, value := range s {
		if !strings.Contains(value, "kill-") {
			continue
		}
		hook, _, _ := strings.Cut(name, "[")
		if slices.Contains([]string{"session-created", "after-new-session", "window-linked", "after-new-window", "session-window-changed"}, hook) {
			atBegin = append(atBegin, name)
		} else {
			later = append(later, name)
		}
	}
	slices.Sort(atBegin)
	slices.Sort(later)
	return atBegin, later
}
