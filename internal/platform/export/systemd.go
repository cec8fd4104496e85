package export

import (
	"fmt"
	"strings"

	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
)

// Service ends the name of a unit of systemd.
const Service = ".service"

// Systemd returns the units of the agents' tmux server, their recovery at boot, the watch, and the server of
// conversations. Errors: BadInput for a program whose path systemd cannot run.
func (t Team) Systemd() ([]Unit, error) {
	for _, program := range []string{t.Program, t.Tmux} {
		if strings.ContainsFunc(program, func(r rune) bool { return strings.ContainsRune("\"'\\", r) || r < ' ' || r == 0x7f }) {
			return nil, fail.Errorf(fail.BadInput, "systemd cannot run a program whose path has a quote, a backslash or a control character: %s", human.Quote(program)).
				Hint("install it in another folder, such as ~/.local/bin")
		}
	}
	server, recovery, watch, serve := t.ServerName()+Service, t.RecoverName()+Service, t.WatchName()+Service, t.ServeName()+Service
	return []Unit{
		{server, mark + t.server()},
		{recovery, mark + t.recovery(server)},
		{watch, mark + t.watch(server, recovery)},
		{serve, mark + t.serve()},
	}, nil
}

func (t Team) server() string {
	return `
[Unit]
Description=tmux server of the agents

# A service of its own: neither a logout nor the end of another service ends the agents.
[Service]
Type=forking
` + t.environment("LC_ALL=C.UTF-8") + `ExecStart=` + command(t.Tmux, t.socket()...) + ` start-server \; set-option -g exit-empty off
LimitNOFILE=65536
# At a stop, each claude is asked to end and has the usual 90 t.
KillMode=control-group
# If the kernel ends one agent for its memory, the others go on.
OOMPolicy=continue

[Install]
WantedBy=default.target
`
}

func (t Team) recovery(server string) string {
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
`, text(t.Project), server, t.environment()+environmentFile, command(t.Program, t.words("recover", "--all")...), pattern(t.Pause))
}

func (t Team) watch(server, recovery string) string {
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
RestartPreventExitStatus=`+lastingCodes+`
# The agents that it has started go on after it ends, and so does a tmux server that it has started.
KillMode=process
OOMPolicy=continue

[Install]
WantedBy=default.target
`, text(t.Project), server, recovery, t.environment()+environmentFile, command(t.Program, t.watchWords()...))
}

func (t Team) serve() string {
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
RestartPreventExitStatus=`+lastingCodes+`
# It ends its own claudes. Agents that a chat has brought back go on.
KillMode=process
TimeoutStopSec=60
OOMPolicy=continue

[Install]
WantedBy=default.target
`, text(t.Project), t.environment()+environmentFile, command(t.Program, t.words("serve")...))
}

// lastingCodes are the exit codes after which another start would end in the same way, until a person mends something.
const lastingCodes = "2 4 5 6 8"

// environmentFile names a file that is read if it exists: API keys and the like must not be in a unit.
const environmentFile = "EnvironmentFile=-%E/nbs-worker/environment\n"

func (t Team) environment(more ...string) string {
	var b strings.Builder
	for _, variable := range append(more, t.Env...) {
		b.WriteString("Environment=" + setting(variable) + "\n")
	}
	return b.String()
}
