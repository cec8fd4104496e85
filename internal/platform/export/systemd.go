// Package export writes what service managers and schedulers need to run a team: units of systemd for one user, and
// jobs of Slurm and Kubernetes for one agent.
//
//   - A unit has paths and settings, and no secret: the units read secrets from a file of the user.
//   - The tmux server has a service of its own: the end of another service must not end the agents.
//   - Quoting keeps each path unchanged, whatever characters it has.
//
// The package knows no agents, and starts nothing.
package export

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path/filepath"
	"strings"

	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
)

// Systemd is the input for the units of a project.
type Systemd struct {
	Program string   // absolute path of nbs-worker
	Tmux    string   // absolute path of tmux
	Project string   // absolute path of the project root
	Socket  string   // of the tmux server: a name, or a path; "" for the user's own
	Pause   string   // absolute path of the mark of a pause
	Policy  string   // absolute path of the policy of watch; "": no policy
	Env     []string // NAME=value, that the services need
}

// Unit is a file for a service manager or a scheduler.
type Unit struct{ Name, Text string }

// mark is the first line of each unit, behind the one that names a shell. A file without it was not written by this
// program.
const mark = "# Made by nbs-worker export systemd; made again, it is replaced.\n"

// Units returns the units of the agents' tmux server, their recovery at boot, the watch, and the server of
// conversations. Errors: BadInput for a program whose path systemd cannot run.
func (s Systemd) Units() ([]Unit, error) {
	for _, program := range []string{s.Program, s.Tmux} {
		if strings.ContainsFunc(program, func(r rune) bool { return strings.ContainsRune("\"'\\", r) || r < ' ' || r == 0x7f }) {
			return nil, fail.Errorf(fail.BadInput, "systemd cannot run a program whose path has a quote, a backslash or a control character: %s", human.Quote(program)).
				Hint("install it in another folder, such as ~/.local/bin")
		}
	}
	server, recovery, watch, serve := s.serverName(), s.RecoverName(), "nbs-watch-"+projectName(s.Project)+".service", s.ServeName()
	return []Unit{
		{server, mark + s.server()},
		{recovery, mark + s.recovery(server)},
		{watch, mark + s.watch(server, recovery)},
		{serve, mark + s.serve()},
	}, nil
}

// ServeName returns the name of the unit of the project's server of conversations.
func (s Systemd) ServeName() string { return "nbs-serve-" + projectName(s.Project) + ".service" }

// RecoverName returns the name of the unit that brings the project's agents back at boot.
func (s Systemd) RecoverName() string { return "nbs-recover-" + projectName(s.Project) + ".service" }

func (s Systemd) serverName() string {
	switch {
	case s.Socket == "" || s.Socket == "default":
		return "nbs-tmux.service"
	case filepath.IsAbs(s.Socket):
		return "nbs-tmux-" + hash(s.Socket) + ".service"
	}
	return "nbs-tmux-" + s.Socket + ".service"
}

// projectName returns the name of the project in names of units. It has a hash, which differs for projects whose
// folders have the same name.
func projectName(project string) string {
	plain := strings.Map(func(r rune) rune {
		if isPlain(r) && r != '/' {
			return r
		}
		return '-'
	}, filepath.Base(project))
	const most = 40
	return plain[:min(len(plain), most)] + "-" + hash(project)
}

func hash(text string) string {
	const enough = 4 // bytes
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:enough])
}

func (s Systemd) server() string {
	socket := []string{"-L", "default"}
	if filepath.IsAbs(s.Socket) {
		socket = []string{"-S", s.Socket}
	} else if s.Socket != "" {
		socket[1] = s.Socket
	}
	return `
[Unit]
Description=tmux server of the agents

# A service of its own: neither a logout nor the end of another service ends the agents.
[Service]
Type=forking
` + s.environment("LC_ALL=C.UTF-8") + `ExecStart=` + command(s.Tmux, socket...) + ` start-server \; set-option -g exit-empty off
LimitNOFILE=65536
# At a stop, each claude is asked to end and has the usual 90 s.
KillMode=control-group
# If the kernel ends one agent for its memory, the others go on.
OOMPolicy=continue

[Install]
WantedBy=default.target
`
}

func (s Systemd) recovery(server string) string {
	return fmt.Sprintf(`
[Unit]
Description=Bring back the agents of %[1]s
Wants=%[2]s
After=%[2]s
# A pause outlives a reboot.
ConditionPathExistsGlob=!%[5]s

[Service]
Type=oneshot
%[3]sExecStart=%[4]s
# The agents that it has started go on after it ends, and so does a tmux server that it has started.
KillMode=process

[Install]
WantedBy=default.target
`, text(s.Project), server, s.environment()+environmentFile, s.worker("recover", "--all"), pattern(s.Pause))
}

func (s Systemd) watch(server, recovery string) string {
	args := []string{"watch"}
	if s.Policy != "" {
		args = append(args, "--policy", s.Policy)
	}
	return fmt.Sprintf(`
[Unit]
Description=Watch the agents of %[1]s
Wants=%[2]s
After=%[2]s %[3]s

[Service]
Type=notify
%[4]sExecStart=%[5]s
Restart=on-failure
RestartSec=10
SuccessExitStatus=130
# These do not mend themselves: no such project, an unusable policy, another watch, no tmux.
RestartPreventExitStatus=2 4 5 6 8
# The agents that it has started go on after it ends, and so does a tmux server that it has started.
KillMode=process
OOMPolicy=continue

[Install]
WantedBy=default.target
`, text(s.Project), server, recovery, s.environment()+environmentFile, s.worker(args...))
}

func (s Systemd) serve() string {
	return fmt.Sprintf(`
[Unit]
Description=Serve the conversations of %[1]s

# nbs-worker serve setup telegram sets up a bot, which this serves too.
[Service]
Type=notify
%[2]sExecStart=%[3]s
Restart=on-failure
RestartSec=10
SuccessExitStatus=130
# These do not mend themselves: no such project, an unusable token or flag, another server.
RestartPreventExitStatus=2 4 5 6 8
# It ends its own claudes. Agents that a chat has brought back go on.
KillMode=process
TimeoutStopSec=60
OOMPolicy=continue

[Install]
WantedBy=default.target
`, text(s.Project), s.environment()+environmentFile, s.worker("serve"))
}

// environmentFile names a file that is read if it exists: API keys and the like must not be in a unit.
const environmentFile = "EnvironmentFile=-%E/nbs-worker/environment\n"

func (s Systemd) environment(more ...string) string {
	var b strings.Builder
	for _, variable := range append(more, s.Env...) {
		b.WriteString("Environment=" + setting(variable) + "\n")
	}
	return b.String()
}

func (s Systemd) worker(args ...string) string {
	if s.Socket != "" {
		args = append([]string{"--tmux-socket", s.Socket}, args...)
	}
	return command(s.Program, append([]string{"--root", s.Project}, args...)...)
}
