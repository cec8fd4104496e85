package ui

import (
	"os"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/platform/export"
	"nbs-worker/internal/store/trust"
	"nbs-worker/internal/team/observe"
)

// exported are the variables that a service needs, with their present values.
var exported = []string{"PATH", "NBS_CLAUDE", "NBS_CONTEXT_BANDS", "CLAUDE_CONFIG_DIR", "XDG_STATE_HOME", "TMUX_TMPDIR", "IS_SANDBOX"}

// Job returns what a job of Slurm needs that runs an agent of a project.
func Job(p *observe.Project, handle agent.Handle) export.Job {
	return export.Job{Program: p.Program, Project: p.Store.Project(), Handle: handle, Env: present("PATH", "NBS_CLAUDE", "NBS_CONTEXT_BANDS", "CLAUDE_CONFIG_DIR", "XDG_STATE_HOME", "IS_SANDBOX")}
}

// Container returns what a pod of Kubernetes needs that runs an agent of a project. Its programs are those of the image.
func Container(p *observe.Project, handle agent.Handle, image string) export.Job {
	return export.Job{
		Program: "nbs-worker", Project: p.Store.Project(), Handle: handle, Image: image,
		Env: present("HOME", "NBS_CONTEXT_BANDS", "CLAUDE_CONFIG_DIR", "XDG_STATE_HOME", "IS_SANDBOX"),
	}
}

// present returns the variables that are set, as NAME=value.
func present(names ...string) (env []string) {
	for _, name := range names {
		if value := os.Getenv(name); value != "" {
			env = append(env, name+"="+value)
		}
	}
	return env
}

// Team returns what the services of a project need.
func Team(p *observe.Project) (export.Team, error) {
	server, err := p.Tmux(p.Socket)
	if err != nil {
		return export.Team{}, err
	}
	wanted := export.Team{Program: p.Program, Tmux: server.Program(), Project: p.Store.Project(), Socket: p.Socket, Pause: p.Store.Watching().PauseFile()}
	wanted.Env = present(exported...)
	return wanted, nil
}

// LaunchAgents returns what the services of a project need that launchd runs. Errors: Unfit without a home folder.
func LaunchAgents(p *observe.Project) (export.Team, error) {
	wanted, err := Team(p)
	if err != nil {
		return wanted, err
	}
	home, err := trust.HomeOf(p.Env)
	if err != nil {
		return wanted, err
	}
	wanted.Logs = home.Path("logs")
	wanted.Env = append(wanted.Env, present("HOME")...)
	return wanted, nil
}
