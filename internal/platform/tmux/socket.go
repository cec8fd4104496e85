package tmux

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"golang.org/x/sys/unix"

	"nbs-worker/internal/platform/machine/portable"
)

// socketPath returns the path at which tmux -L has the socket of a name.
func socketPath(name string) string {
	base, err := filepath.EvalSymlinks(cmp.Or(os.Getenv("TMUX_TMPDIR"), "/tmp"))
	if err != nil {
		base = "/tmp"
	}
	return filepath.Join(base, "tmux-"+strconv.Itoa(os.Getuid()), name)
}

// Program returns the path of tmux.
func (c *Client) Program() string { return c.binary }

// Path returns the path of the server's socket.
func (c *Client) Path() string { return c.path }

// ServerPID returns the pid of the process that listens at the socket. The kernel names it, so this works for a
// server that does not answer, and the pid is one of this process's namespace. Errors: no server listens, or it has
// no pid in this namespace.
func (c *Client) ServerPID() (int, error) {
	if err := checkSocket(c.path); err != nil {
		return 0, err
	}
	fd, err := portable.Socket()
	if err != nil {
		return 0, os.NewSyscallError("socket", err)
	}
	defer func() { _ = unix.Close(fd) }()
	if err := unix.Connect(fd, &unix.SockaddrUnix{Name: c.path}); err != nil {
		return 0, fmt.Errorf("connect to %s: %w", c.path, err)
	}
	pid, err := portable.PeerPID(fd)
	if err != nil {
		return 0, os.NewSyscallError("getsockopt", err)
	}
	if pid == 0 {
		return 0, errors.New("the server is in another pid namespace")
	}
	return pid, nil
}
