package doctor

import (
	"context"
	"fmt"
	"os"
	"os/user"
	"strings"

	"nbs-worker/internal/human"
	"nbs-worker/internal/platform/logind"
)

// outlivesLogin checks the control groups of tmux servers. The processes of a login session may be killed at its
// end, and a user's services end with the last login unless the user lingers.
func (d *examination) outlivesLogin(ctx context.Context) (all findings) {
	if _, err := os.Stat("/run/systemd/system"); err != nil {
		return found(Note, "systemd does not run this machine: whether a logout ends agents was not checked", "")
	}
	self, err := user.Current()
	if err != nil {
		return found(Note, "the name of this user is unknown: whether a logout ends agents was not checked", "")
	}
	lingers := logind.Lingers(ctx, self.Username)
	groups := map[string]string{}
	for _, client := range d.servers() {
		if pid, err := client.ServerPID(); err == nil {
			groups[fmt.Sprintf("the tmux server, pid %d,", pid)] = d.project.Machine.Cgroup(pid)
		}
	}
	if len(groups) == 0 { // the next agent's server would run in the group of this command
		groups["a tmux server started from here"] = d.project.Machine.Cgroup(os.Getpid())
	}
	kills, unknown := logind.KillsProcesses(ctx)
	for what, group := range groups {
		all = append(all, judgeLogin(what, group, self.Username, lingers, kills, unknown)...)
	}
	return all
}

// judgeLogin reports what the end of a login does to a process in a control group. kills and unknown are the answer of
// the login manager.
func judgeLogin(what, group, name string, lingers, kills bool, unknown error) findings {
	linger := "loginctl enable-linger " + name
	inSession := strings.Contains(group, "/session-") && name != "root" // root is exempt by default
	switch {
	case inSession && unknown != nil:
		return found(Note, what+" is part of a login session, and whether the end of a login kills its processes is unknown: "+human.OneLine(unknown.Error()),
			"if it does, all agents end with that login, by a logout or a lost connection", "to see it: "+logind.Setting, linger)
	case inSession && kills:
		return found(Failure, what+" is part of a login session, and the end of a login kills its processes (KillUserProcesses=yes)",
			"all agents end with that login, by a logout or a lost connection", linger,
			"and start the server in a scope of your own: systemd-run --user --scope tmux start-server \\; set-option -g exit-empty off")
	case strings.Contains(group, "/user@") && !lingers:
		return found(Warning, what+" runs under the user's service manager, which ends with the user's last login",
			"when you log out everywhere, all agents end", linger)
	}
	return nil
}
