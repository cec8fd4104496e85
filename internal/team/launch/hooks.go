package launch

import (
	"context"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
	"nbs-worker/internal/platform/tmux"
)

// endedByHook calls [endedByHook] for the server of an agent's start.
func (s Starter) endedByHook(ctx context.Context, r *agent.Record) error {
	if r.Process.Tmux == nil {
		return nil
	}
	client, err := s.Project.Client(r)
	if err != nil {
		return nil //nolint:nilerr // the start has failed, and its own error tells how
	}
	return endedByHook(ctx, client)
}

// endedByHook returns an error that names the hook of the user's tmux configuration that ends each new session at
// once; nil if there is no such hook.
func endedByHook(ctx context.Context, client *tmux.Client) error {
	settings, err := client.Settings(ctx)
	if err != nil { // the server ended with its only session
		if settings, err = tmux.ConfiguredSettings(ctx); err != nil {
			return nil //nolint:nilerr // the start has failed, and its own error tells how
		}
	}
	hooks, _ := settings.Enders()
	if len(hooks) == 0 {
		return nil
	}
	return fail.Errorf(fail.Unfit, "a hook of your tmux configuration ends each new session: %s", hooks[0]).
		Hint("remove it from your tmux.conf; and from the running server: tmux -S %s set-hook -gu %s", human.ShellWord(client.Path()), hooks[0])
}
