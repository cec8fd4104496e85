package tmux

import (
	"os"
	"strings"
	"syscall"
)

// Attach replaces this process by a tmux client that shows the session. Inside a
// client of the same server it switches that client instead. On success it does
// not return, or returns nil after a switch.
func (c *Client) Attach(socketPath, sessionID string) error {
	if err := c.check(); err != nil {
		return err
	}
	verb := "attach-session"
	env := os.Environ()
	if inside, _, _ := strings.Cut(os.Getenv("TMUX"), ","); inside == socketPath {
		verb = "switch-client"
	} else {
		env = without(env, "TMUX")
	}
	args := append(append([]string{"tmux"}, c.socket...), verb, "-t", sessionID)
	return &os.PathError{Op: "exec", Path: c.binary, Err: syscall.Exec(c.binary, args, env)}
}

func without(env []string, name string) []string {
	var rest []string
	for _, entry := range env {
		if !strings.HasPrefix(entry, name+"=") {
			rest = append(rest, entry)
		}
	}
	return rest
}
