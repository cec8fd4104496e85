package tmux

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"nbs-worker/internal/agent"
)

// OldestUsable is the oldest tmux that has what we need: new-session -e came with it.
const OldestUsable = "3.2"

// ConfigLimit is how long a server may take to read the user's configuration.
const ConfigLimit = 20 * time.Second

// ShortTemp is where scratch folders for sockets go: the path of a socket is bounded.
func ShortTemp() string {
	const room = 60
	if dir := os.TempDir(); len(dir) <= room {
		return dir
	}
	return "/tmp"
}

// Scratch returns a client for a server of nobody's, whose socket is in a folder that is
// thrown away, and that reads no configuration. Errors: Unfit when tmux is not installed.
func Scratch(dir string) (*Client, error) {
	client, err := Configured(dir)
	if err != nil {
		return nil, err
	}
	client.socket = append(client.socket, "-f", "/dev/null")
	return client, nil
}

// Configured is [Scratch] for a server that reads the user's configuration, as the first
// server of an agent does.
func Configured(dir string) (*Client, error) {
	return NewServers().Client(filepath.Join(dir, "tmux"))
}

// Version is that of the tmux program, such as "3.3a". No server is asked.
func (c *Client) Version(ctx context.Context) (string, error) {
	printed, err := c.run(ctx, "/", "-V")
	if err != nil {
		return "", err
	}
	return strings.TrimPrefix(strings.TrimSpace(printed), "tmux "), nil
}

// TooOld tells whether a version of tmux is older than [OldestUsable]. One that cannot be
// read, such as "master", is taken for new.
func TooOld(version string) bool {
	var major, minor int
	_, err := fmt.Sscanf(strings.TrimPrefix(version, "next-"), "%d.%d", &major, &minor)
	return err == nil && (major < 3 || major == 3 && minor < 2)
}

// KillServer ends the server and all of its sessions. It is for servers of our own making.
func (c *Client) KillServer(ctx context.Context) error {
	_, err := c.run(ctx, "/", "kill-server")
	if errors.Is(err, ErrNoServer) {
		return nil
	}
	return err
}

// HasSession tells whether a session has exactly this name.
func (c *Client) HasSession(ctx context.Context, name string) (bool, error) {
	_, err := c.run(ctx, "/", "has-session", "-t", "="+name)
	if errors.Is(err, ErrNoSession) {
		return false, nil
	}
	return err == nil, err
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

// StartSettings starts a server, which ends again at once, and tells with what settings it
// comes up. It takes as long as the server takes to read its configuration, up to the limit.
func (c *Client) StartSettings(ctx context.Context, limit time.Duration) (Settings, error) {
	out, err := c.runWithin(ctx, limit, "/", append([]string{"start-server", ";"}, settingsWords...)...)
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

// Enders are the hooks of the settings that end sessions, windows or panes, sorted. The hooks
// at the beginning of a session are those by which no start succeeds.
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

// Environment is what the server hands to everything that is started in it by hand.
// Errors: [ErrNoServer].
func (c *Client) Environment(ctx context.Context) ([]string, error) {
	out, err := c.run(ctx, "/", "show-environment", "-g")
	return strings.Split(strings.TrimSpace(out), "\n"), err
}

// trialWords keep a pane open, and do nothing.
var trialWords = []string{"sleep", "60"}

// Trial starts a session as an agent's is started, in a server of our own, which may take so
// long to come up.
func (c *Client) Trial(ctx context.Context, name string, id agent.Invocation, env map[string]string, limit time.Duration) (Pane, error) {
	if _, err := exec.LookPath(trialWords[0]); err != nil {
		return Pane{}, err
	}
	if err := c.NewSession(ctx, Spec{Name: name, Window: name, Dir: "/", Invocation: id, Env: env, Command: trialWords, StartLimit: limit}); err != nil {
		return Pane{}, err
	}
	panes, err := c.Panes(ctx)
	if err != nil {
		return Pane{}, err
	}
	for _, pane := range panes {
		if pane.Session == name {
			return pane, nil
		}
	}
	return Pane{}, errors.New("a session that was just made is not listed")
}
