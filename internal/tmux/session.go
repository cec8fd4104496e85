package tmux

import (
	"context"
	"errors"
	"slices"
	"strings"

	"nbs-worker/internal/agent"
)

// invocationOption is the session option by which our sessions are known: a name
// alone can be anybody's.
const invocationOption = "@nbs_invocation"

// Spec describes a new session.
type Spec struct {
	Name       string
	Dir        string // working directory of the command
	Invocation agent.Invocation
	Env        map[string]string // for this command alone; of our making, and no secrets: they stay readable
	Command    []string          // at least two words: one alone would go through a shell
}

// NewSession starts a detached session. Errors: [ErrDuplicate].
func (c *Client) NewSession(ctx context.Context, spec Spec) error {
	target := "=" + spec.Name + ":" // exact; set-option takes a pane, hence the colon
	args := []string{"new-session", "-d", "-s", spec.Name, "-x", "120", "-y", "40"}
	for name, value := range spec.Env {
		args = append(args, "-e", name+"="+value)
	}
	args = append(args, "--")
	for _, word := range spec.Command {
		args = append(args, escapeWord(word))
	}
	for name := range spec.Env {
		// Not for the windows that a person opens in the session later.
		args = append(args, ";", "set-environment", "-t", target, "-r", name)
	}
	args = append(args,
		";", "set-option", "-t", target, invocationOption, string(spec.Invocation),
		// A dead pane that stays makes paste-buffer crash tmux 3.3a.
		";", "set-option", "-w", "-t", target, "remain-on-exit", "off",
		";", "set-option", "-t", target, "destroy-unattached", "off",
	)
	c.shared.raiseOpenFiles()
	_, err := c.run(ctx, spec.Dir, args...)
	if errors.Is(err, ErrNoServer) {
		// A server that is just ending refuses its next client; one more call starts anew.
		_, err = c.run(ctx, spec.Dir, args...)
	}
	return err
}

// AsksForSession tells whether a command line is that of a client which asks for the session
// of a start, or of the server that came up for it.
func AsksForSession(cmdline []string, id agent.Invocation) bool {
	option := slices.Index(cmdline, invocationOption)
	return slices.Contains(cmdline, "new-session") && option >= 0 && option+1 < len(cmdline) && cmdline[option+1] == string(id)
}

// escapeWord keeps tmux from taking a final ';' for the end of the command.
func escapeWord(word string) string {
	if stem, ok := strings.CutSuffix(word, ";"); ok {
		return stem + `\;`
	}
	return word
}

// Kill ends a session by its id. One that is gone is no error.
func (c *Client) Kill(ctx context.Context, sessionID string) error {
	_, err := c.run(ctx, "/", "kill-session", "-t", sessionID)
	if errors.Is(err, ErrNoSession) || errors.Is(err, ErrNoServer) {
		return nil
	}
	return err
}
