package tmux

import (
	"os"
	"slices"
	"strings"
	"syscall"
)

// Attach replaces this process by a tmux client that shows a pane. Inside a client of the same server it switches
// that client instead. Claude draws in UTF-8; without -u, tmux shows underscores in a locale without UTF-8. Attach
// returns only if it fails.
func (c *Client) Attach(socketPath, paneID string) error {
	if err := c.check(); err != nil {
		return err
	}
	verb := "attach-session"
	env := os.Environ()
	if inside, _, _ := strings.Cut(os.Getenv("TMUX"), ","); inside == socketPath {
		verb = "switch-client"
	} else {
		env = slices.DeleteFunc(env, func(entry string) bool { return strings.HasPrefix(entry, "TMUX=") })
	}
	args := slices.Concat([]string{"tmux", "-u"}, c.socket, []string{verb, "-t", paneID})
	return &os.PathError{Op: "exec", Path: c.binary, Err: syscall.Exec(c.binary, args, env)}
}
