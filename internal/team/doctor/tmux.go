package doctor

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/human"
	"nbs-worker/internal/platform/tmux"
)

const installTmux = "apt-get install tmux"

func (d *examination) tmuxVersion(ctx context.Context) findings {
	var version string
	client, err := tmux.Scratch(d.scratch)
	if err == nil {
		version, err = client.Version(ctx)
	}
	const why = "agents run in tmux; without it, only nbs-worker run works, with one terminal for each agent"
	switch {
	case err != nil:
		return unfit(oneLine(err), why, installTmux)
	case tmux.TooOld(version):
		return unfit(fmt.Sprintf("tmux %s is too old: %s is needed", version, tmux.OldestUsable), why, installTmux)
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

// tmuxSettings checks the settings of the running servers, or those that a new one would have.
func (d *examination) tmuxSettings(ctx context.Context) (all findings) {
	for _, client := range d.servers() {
		if settings, err := client.Settings(ctx); err == nil { // otherwise no server runs there, and nothing is set
			all = append(all, judgeSettings("tmux -S "+human.ShellWord(client.Path())+" ", settings)...)
		}
	}
	if len(all) > 0 {
		return all
	}
	settings, err := d.configured()
	if err != nil {
		return found(Warning, "a tmux server with the user's configuration did not start: "+oneLine(err),
			"the server of the first agent would not start either", "to see how long it takes: time tmux -L nbs-trial start-server")
	}
	return judgeSettings("", settings)
}

// judgeSettings finds hooks that affect the sessions of agents. command is the beginning of a tmux
// command to the server; "" if no server runs and the settings are those of the configuration.
func judgeSettings(command string, settings tmux.Settings) (all findings) {
	mend := func(words string) []string {
		const line = "remove the line from your tmux.conf"
		if command == "" {
			return []string{line}
		}
		return []string{command + words, "and " + line}
	}
	atBegin, later := settings.Enders()
	for _, name := range atBegin {
		all.add(Failure, "tmux has a hook that ends each new session: "+name, "no agent can be started in that server", mend("set-hook -gu "+name)...)
	}
	for name, value := range settings {
		if strings.Contains(value, "rename-session") {
			later = append(later, name)
		}
	}
	slices.Sort(later)
	for _, name := range slices.Compact(later) {
		all.add(Warning, "tmux has a hook that renames or ends sessions: "+name,
			"it may end agents; a renamed session is still found, but not under its expected name",
			mend("set-hook -gu "+name)...)
	}
	return all
}

// lookup reads variables from an environment.
func lookup(env []string) func(string) string {
	return func(name string) string { return agent.Variable(env, name) }
}
