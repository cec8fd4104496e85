package doctor

import (
	"context"
	"fmt"
	"slices"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/platform/tmux"
)

func (d *examination) tmuxVersion(ctx context.Context) findings {
	var version string
	client, err := tmux.Scratch(d.scratch)
	if err == nil {
		version, err = client.Version(ctx)
	}
	const why = "agents run in tmux; without it, only nbs-worker run works, with one terminal for each agent"
	switch {
	case err != nil:
		return unfit(oneLine(err), why, tmux.InstallCommand(d.project.Machine.System()))
	case tmux.TooOld(version):
		return unfit(fmt.Sprintf("tmux %s is too old: %s is needed", version, tmux.OldestUsable), why, tmux.InstallCommand(d.project.Machine.System()))
	}
	return holding("tmux has version " + version)
}

// servers returns the tmux servers that matter here: those of the agents, and that of the next agent.
func (d *examination) servers() []*tmux.Client {
	sockets := []string{d.project.SocketFor(nil)}
	for _, row := range d.live() {
		if place := row.Record.Process.Tmux; place != nil && row.Err == nil {
			sockets = append(sockets, place.Path)
		}
	}
	var clients []*tmux.Client
	for _, socket := range sockets {
		client, err := d.project.Tmux(socket)
		if err == nil && !slices.ContainsFunc(clients, func(c *tmux.Client) bool { return c.Path() == client.Path() }) {
			clients = append(clients, client)
		}
	}
	return clients
}

// lookup reads variables from an environment.
func lookup(env []string) func(string) string {
	return func(name string) string { return agent.Variable(env, name) }
}
