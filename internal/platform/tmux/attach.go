package tmux

import (
	"cmp"
	"os"
	"slices"
	"strings"
	"syscall"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/human"
)

// Attach replaces this process by a tmux client that shows a pane. Inside a client of the same server it switches
// that client instead. It has tmux say how to go back, a second later: tmux shows nothing new of a pane beside a message,
// and Claude first has to draw for the size of this terminal. Claude draws in UTF-8; without -u, tmux shows underscores
// in a locale without UTF-8. Attach returns only if it fails.
func (c *Client) Attach(socketPath, paneID string) error {
	if err := c.check(); err != nil {
		return err
	}
	verb, back := "attach-session", "#{prefix}, then d"
	env, inside := os.Environ(), Inside()
	if inside == socketPath {
		verb, back = "switch-client", "#{prefix}, then L"
	} else {
		env = slices.DeleteFunc(env, func(entry string) bool { return strings.HasPrefix(entry, "TMUX=") })
	}
	if inside != "" && inside != socketPath {
		back = "#{prefix} twice, then d" // the tmux around this one takes the first
	}
	return c.become(env, slices.Concat(c.socket, []string{verb, "-t", paneID, ";", "run-shell", "-b", "-d", "1", "-C", "display-message -d 3000 'to go back: " + back + "'"})...)
}

// MoveTo shows a pane as [Client.Attach] does, but never one tmux in another: inside a client of another server, that
// client leaves its server, and tmux has the user's shell attach its terminal to this one. Each word of the shell's line
// is quoted.
func (c *Client) MoveTo(socketPath, paneID string) error {
	inside := Inside()
	if inside == "" || inside == socketPath {
		return c.Attach(socketPath, paneID)
	}
	if err := cmp.Or(c.check(), checkSocket(inside)); err != nil {
		return err
	}
	line := agent.Mapped([]string{c.binary, "-u", "-S", socketPath, "attach-session", "-t", paneID}, human.ShellWord)
	return c.become(os.Environ(), "-S", inside, "detach-client", "-E", "exec env -u TMUX "+strings.Join(line, " "))
}

// Inside returns the socket of the tmux server in which this process runs; "" outside of tmux.
func Inside() string {
	socketPath, _, _ := strings.Cut(os.Getenv("TMUX"), ",")
	return socketPath
}

// become replaces this process by tmux.
func (c *Client) become(env []string, args ...string) error {
	return &os.PathError{Op: "exec", Path: c.binary, Err: syscall.Exec(c.binary, append([]string{"tmux", "-u"}, args...), env)}
}
