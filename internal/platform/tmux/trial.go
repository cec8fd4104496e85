package tmux

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// OldestUsable is the oldest tmux that nbs-worker can use: new-session -e came with it.
const OldestUsable = "3.2"

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
	client, err := New(filepath.Join(dir, "tmux"))
	if err != nil {
		return nil, err
	}
	client.socket = append(client.socket, "-f", "/dev/null")
	return client, nil
}

// Version returns the version of the tmux program, such as "3.3a". It asks no server.
func (c *Client) Version(ctx context.Context) (string, error) {
	printed, err := c.run(ctx, "/", "-V")
	if err != nil {
		return "", err
	}
	return strings.TrimPrefix(strings.TrimSpace(printed), "tmux "), nil
}

// ServerVersion returns the version of a server that runs. Errors: it does not run, or does not understand this tmux.
func (c *Client) ServerVersion(ctx context.Context) (string, error) {
	printed, err := c.run(ctx, "/", "display-message", "-p", "#{version}")
	return strings.TrimSpace(printed), err
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
