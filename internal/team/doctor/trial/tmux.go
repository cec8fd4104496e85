package trial

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/human"
	"nbs-worker/internal/platform/machine"
	"nbs-worker/internal/platform/tmux"
)

// Tmux starts a session like that of an agent, on its own server, and checks that it has what an agent's session
// needs. The caller ends the server.
func Tmux(ctx context.Context, m *machine.Machine, client *tmux.Client) error {
	const name, variable, value = "nbs-alpha-live", "NBS_TRIAL", "a b"
	id := agent.NewInvocation()
	pane, err := startIn(ctx, client, tmux.Spec{
		Name: name, Window: name, Dir: "/", Invocation: id, Env: map[string]string{variable: value}, Command: []string{"sleep", "60"}, StartLimit: tmux.ConfigLimit,
	})
	if err != nil {
		return err
	}
	if pane.Invocation != id {
		return fmt.Errorf("a session has lost its mark: it has %s", human.Quote(string(pane.Invocation)))
	}
	if got := variableOf(ctx, m, pane.PID, variable, value); got != value {
		return fmt.Errorf("a program in a session does not get the session's variables: %s", human.Quote(got))
	}
	whole, err := client.HasSession(ctx, name)
	if err != nil || !whole {
		return errors.Join(errors.New("a session is not found by its full name"), err)
	}
	part, err := client.HasSession(ctx, strings.TrimSuffix(name, "-live"))
	if part {
		err = errors.New("a session is found by a part of its name")
	}
	return err
}

// startIn starts the only session of a server, and returns its pane; the zero pane if its program has already ended.
func startIn(ctx context.Context, client *tmux.Client, spec tmux.Spec) (pane tmux.Pane, err error) {
	if err := client.NewSession(ctx, spec); err != nil {
		return pane, err
	}
	panes, err := client.Panes(ctx)
	if len(panes) > 0 {
		pane = panes[0]
	}
	return pane, err
}

// variableOf reads a variable of a process that was just started. Until its execve, the process has the variables of
// its parent.
func variableOf(ctx context.Context, m *machine.Machine, pid int, name, want string) (got string) {
	ctx, cancel := context.WithTimeout(ctx, grace)
	defer cancel()
	for range time.Tick(time.Millisecond) {
		if got, _ = m.Variable(pid, name); got == want || ctx.Err() != nil {
			break
		}
	}
	return got
}
