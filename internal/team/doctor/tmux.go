package doctor

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/claude"
	"nbs-worker/internal/human"
	"nbs-worker/internal/platform/tmux"
	"nbs-worker/internal/team/doctor/trial"
)

const installTmux = "apt-get install tmux"

func (d *examination) tmuxVersion(ctx context.Context) findings {
	var version string
	client, err := tmux.Scratch(d.scratch)
	if err == nil {
		version, err = client.Version(ctx)
	}
	const why = "agents live in tmux; without it one can only be run in a terminal of its own, by nbs-worker run"
	switch {
	case err != nil:
		return unfit(oneLine(err), why, installTmux)
	case tmux.TooOld(version):
		return unfit(fmt.Sprintf("tmux %s is too old: %s is needed", version, tmux.OldestUsable), why, installTmux)
	}
	return holding("tmux has version " + version)
}

// tmuxTrial starts a session like that of an agent, on a server of its own that is ended again.
func (d *examination) tmuxTrial(ctx context.Context) findings {
	client, err := tmux.Configured(d.scratch)
	if err != nil {
		return found(Note, "tmux was not tried: "+oneLine(err), "")
	}
	defer func() { _ = client.KillServer(context.WithoutCancel(ctx)) }()
	settings, err := d.configured()
	if err != nil {
		return found(Warning, "a tmux server of the user's configuration did not come up: "+oneLine(err),
			"the first agent's server would not either", "to see what it does: time tmux -L nbs-trial start-server")
	}
	if hooks, _ := settings.Enders(); len(hooks) > 0 {
		return nil // tmux.settings says so; no session of that server would live
	}
	if err := trial.Tmux(ctx, client); err != nil {
		return unfit("tmux does not do what is relied on: "+oneLine(err),
			"an agent's session would not be found again, or another one be taken for it", "try another tmux: "+installTmux)
	}
	return nil
}

// servers are the tmux servers that matter here: where the agents are, and where the next
// one would be.
func (d *examination) servers() []*tmux.Client {
	sockets := []string{d.SocketFor(nil)}
	for _, row := range d.live() {
		if place := row.Record.Process.Tmux; place != nil && row.Err == nil {
			sockets = append(sockets, place.Path)
		}
	}
	var clients []*tmux.Client
	for _, socket := range sockets {
		client, err := d.Tmux(socket)
		if err == nil && !slices.ContainsFunc(clients, func(c *tmux.Client) bool { return c.Path() == client.Path() }) {
			clients = append(clients, client)
		}
	}
	return clients
}

// tmuxSettings looks at the servers that run, and at what a new one would have.
func (d *examination) tmuxSettings(ctx context.Context) (all findings) {
	for _, client := range d.servers() {
		if settings, err := client.Settings(ctx); err == nil { // else no server runs there: nothing is set
			all = append(all, judgeSettings("tmux -S "+human.ShellWord(client.Path())+" ", settings)...)
		}
	}
	if len(all) > 0 {
		return all
	}
	settings, err := d.configured()
	if err != nil {
		return nil // tmux.trial says so
	}
	return judgeSettings("", settings)
}

// judgeSettings looks for options and hooks that affect the sessions of agents. command is the beginning
// of a tmux command to the server; "" where none runs and the settings are those of the configuration.
func judgeSettings(command string, settings tmux.Settings) (all findings) {
	mend := func(words string) []string {
		const line = "remove the line from your tmux.conf"
		if command == "" {
			return []string{line}
		}
		return []string{command + words, "and " + line}
	}
	for _, option := range []struct{ name, why, command string }{
		{"exit-unattached", "nbs-worker turns it off in a server in which it starts an agent, which would end when nobody is attached", "set-option -s exit-unattached off"},
		{"destroy-unattached", "sessions of agents are exempt from it; those that you make by hand end when you detach", "set-option -g destroy-unattached off"},
		{"remain-on-exit", "sessions of agents are exempt from it; with others, text that is pasted into a dead pane crashes tmux 3.3a, and all agents with it", "set-option -gw remain-on-exit off"},
	} {
		if value := settings[option.name]; value != "" && value != "off" {
			all.add(Note, "tmux has "+option.name+" "+value, option.why, mend(option.command)...)
		}
	}
	atBegin, later := settings.Enders()
	for _, name := range atBegin {
		all.add(Failure, "tmux has a hook that ends what is just begun: "+name, "no agent can be started in such a server", mend("set-hook -gu "+name)...)
	}
	for name, value := range settings {
		if strings.Contains(value, "rename-session") {
			later = append(later, name)
		}
	}
	slices.Sort(later)
	for _, name := range slices.Compact(later) {
		all.add(Warning, "tmux has a hook that renames or ends sessions: "+name,
			"it may end agents; one that was renamed is still found, but not under the name that people look for",
			mend("set-hook -gu "+name)...)
	}
	return all
}

// tmuxEnvironment looks for variables that keep a claude which a person starts in a window of the
// server from writing its transcript; for agents the launcher removes them.
func (d *examination) tmuxEnvironment(ctx context.Context) (all findings) {
	for _, client := range d.servers() {
		env, err := client.Environment(ctx)
		if err != nil {
			continue
		}
		if name := claude.Forgetful(lookup(env)); name != "" {
			all.add(Warning, "the tmux server at "+client.Path()+" hands "+name+" to all that is started in its windows",
				"a claude that is started there by hand writes no transcript, and cannot be resumed or adopted; agents of nbs-worker are not concerned",
				"tmux -S "+human.ShellWord(client.Path())+" set-environment -gu "+name)
		}
	}
	return all
}

// lookup reads variables from an environment.
func lookup(env []string) func(string) string {
	return func(name string) string { return agent.Variable(env, name) }
}
