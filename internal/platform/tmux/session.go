package tmux

import (
	"cmp"
	"context"
	"errors"
	"strconv"
	"strings"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/fail"
)

// The options that identify our sessions and panes: another program could use the same name.
const (
	paneOption       = "@nbs_pane"       // of a pane: the start that it was made for
	invocationOption = "@nbs_invocation" // of a session: the last start that it was used for
	ownerOption      = "@nbs_agent"      // of a session: the agent that it was made for
)

// Spec describes where a start is to run.
type Spec struct {
	Name       string // of the session
	Window     string // name of the window
	Owner      string // the agent, by a name that no agent of another project has
	Dir        string // working directory of the command
	Invocation agent.Invocation
	Env        map[string]string // for this command alone; of our making, and no secrets: they stay readable
	Command    []string          // at least two words: one alone would go through a shell

	InView bool // of a window in an existing session: it becomes the one that is shown

	// StartLimit is how long a new server may take for its start: it reads the user's configuration before it
	// answers.
	StartLimit time.Duration
}

// NewSession starts a detached session. Errors: [ErrDuplicate].
func (c *Client) NewSession(ctx context.Context, spec Spec) error {
	target := "=" + spec.Name + ":" // exact; set-option takes a pane, hence the colon
	args := []string{
		// Without this the server would end at once. To set an option makes tmux go through all of its windows.
		"if-shell", "-F", "#{exit-unattached}", "set-option -s exit-unattached off",
		";", "new-session", "-d", "-s", spec.Name, "-n", spec.Window, "-x", "120", "-y", "40",
	}
	args = append(args, spec.command()...)
	for name := range spec.Env {
		// Windows that a person opens in the session later must not get the variable.
		args = append(args, ";", "set-environment", "-t", target, "-r", name)
	}
	args = append(args, spec.marks(target, target)...)
	args = append(args, ";", "set-option", "-t", target, "destroy-unattached", "off")
	// Without this a person who is attached would be in another agent's terminal when this session ends, and type
	// there.
	args = append(args, ";", "set-option", "-t", target, "detach-on-destroy", "on")
	startLimit := cmp.Or(spec.StartLimit, answerLimit)
	limit := answerLimit
	if _, err := c.ServerPID(); err != nil {
		limit = startLimit
	}
	_, err := c.runWithin(ctx, limit, spec.Dir, args...)
	if errors.Is(err, ErrNoServer) {
		// A server that is ending refuses its next client; one more call starts a new server.
		_, err = c.runWithin(ctx, startLimit, spec.Dir, args...)
	}
	return err
}

// NewWindow opens a window in an existing session, by its id, behind a person's windows. Errors: [ErrNoSession].
func (c *Client) NewWindow(ctx context.Context, sessionID string, spec Spec) error {
	name := string(spec.Invocation) // until it is marked: another window may have its later name
	window := sessionID + ":=" + name
	args := []string{"new-window", "-t", sessionID + ":", "-n", name}
	if !spec.InView {
		args = append(args, "-d")
	}
	args = append(args, spec.command()...)
	args = append(args, spec.marks(sessionID+":", window)...)
	args = append(args, ";", "rename-window", "-t", window, spec.Window)
	_, err := c.run(ctx, spec.Dir, args...)
	if errors.Is(err, ErrNoServer) {
		err = ErrNoSession
	}
	return err
}

// command returns the options for a new pane's environment, "--", and the pane's command.
func (spec Spec) command() []string {
	var args []string
	for name, value := range spec.Env {
		args = append(args, "-e", name+"="+value)
	}
	return append(append(args, "--"), agent.Mapped(spec.Command, escapeWord)...)
}

// marks returns the commands that mark a session and the new pane in it.
func (spec Spec) marks(session, window string) []string {
	return []string{
		";", "set-option", "-p", "-t", window, paneOption, string(spec.Invocation),
		";", "set-option", "-t", session, invocationOption, string(spec.Invocation),
		";", "set-option", "-t", session, ownerOption, spec.Owner,
		// With remain-on-exit, a dead pane would make paste-buffer crash tmux 3.3a.
		";", "set-option", "-w", "-t", window, "remain-on-exit", "off",
	}
}

// MarkAgain marks a pane of an agent, and its session, for another start in it. Errors: [ErrNoSession], [ErrNoServer]
// when it is gone.
func (c *Client) MarkAgain(ctx context.Context, paneID string, id agent.Invocation) error {
	_, err := c.run(ctx, "/", "set-option", "-p", "-t", paneID, paneOption, string(id), ";", "set-option", "-t", paneID, invocationOption, string(id))
	return err
}

// Hold keeps a session from ending with its last pane: it opens an idle window, for a minute at most. release closes
// it; tmux then switches clients that show it to another window of the session.
func (c *Client) Hold(ctx context.Context, sessionID string) (release func(context.Context) error, err error) {
	out, err := c.run(ctx, "/", "new-window", "-d", "-t", sessionID+":", "-P", "-F", "#{pane_id} #{pane_pid}", "--", "sleep", "60")
	if err != nil {
		return nil, err
	}
	id, leader, _ := strings.Cut(strings.TrimSpace(out), " ")
	pid, err := strconv.Atoi(leader)
	if err != nil {
		return nil, fail.Errorf(fail.Failed, "tmux described a pane in an unknown form")
	}
	return func(ctx context.Context) error { return c.KillPane(ctx, Pane{ID: id, PID: pid}) }, nil
}

// escapeWord keeps tmux from reading a final ';' as the end of the command.
func escapeWord(word string) string {
	if stem, ok := strings.CutSuffix(word, ";"); ok {
		return stem + `\;`
	}
	return word
}

// KillPane ends a pane. Its window and its session end with it if they have no other pane. It returns no error if the
// pane is gone, or if another process leads it by now. tmux itself checks that, so no process can take the pane over
// in between.
func (c *Client) KillPane(ctx context.Context, pane Pane) error {
	same := "#{==:#{pane_pid}," + strconv.Itoa(pane.PID) + "}"
	_, err := c.run(ctx, "/", "if-shell", "-F", "-t", pane.ID, same, "kill-pane -t "+pane.ID)
	if errors.Is(err, ErrNoSession) || errors.Is(err, ErrNoServer) {
		return nil
	}
	return err
}
