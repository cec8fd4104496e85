package doctor

import (
	"context"
	"fmt"
	"os"
	"os/user"
	"strings"
)

// outlivesLogin checks the control groups of tmux servers. The processes of a login session may be killed at its
// end, and a user's services end with the last login unless the user lingers.
func (d *examination) outlivesLogin(_ context.Context) (all findings) {
	files := logins{root: os.DirFS("/")}
	if !files.systemd() {
		return found(Note, "systemd does not run this machine: whether a logout ends agents was not checked", "")
	}
	name := ""
	if self, err := user.Current(); err == nil {
		name = self.Username
	}
	groups := map[string]string{}
	for _, client := range d.servers() {
		if pid, err := client.ServerPID(); err == nil {
			groups[fmt.Sprintf("the tmux server, pid %d,", pid)] = d.project.Machine.Cgroup(pid)
		}
	}
	if len(groups) == 0 { // the next agent's server would run in the group of this command
		groups["a tmux server started from here"] = d.project.Machine.Cgroup(os.Getpid())
	}
	for what, group := range groups {
		all = append(all, judgeLogin(files, what, group, name)...)
	}
	return all
}

// judgeLogin reports what the end of a login does to a process in a control group.
func judgeLogin(files logins, what, group, name string) findings {
	kills, known := files.killsSessions()
	lingers := files.lingers(name)
	inSession := strings.Contains(group, "/session-") && strings.HasSuffix(strings.TrimSuffix(group, "/"), ".scope")
	linger := "loginctl enable-linger " + name
	scope := "and start the server in a scope of your own: systemd-run --user --scope tmux start-server \\; set-option -g exit-empty off"
	switch {
	case inSession && known && kills && name != "root": // root is exempt by default
		return found(Failure, what+" is part of a login session, and the login manager kills the processes of a session that ends (KillUserProcesses=yes)",
			"when that login ends, by a logout or a lost connection, all agents end with it", linger, scope)
	case inSession && !known:
		return found(Note, what+" is part of a login session; it is unknown whether the login manager kills the processes of a session that ends",
			"if it does, all agents end with that login", "to see it: loginctl show-logind -p KillUserProcesses", linger, scope)
	case strings.Contains(group, "/user@") && !lingers:
		return found(Warning, what+" runs under the user's service manager, which ends with the user's last login",
			"when you log out everywhere, all agents end", linger)
	}
	return nil
}
