package proc

import (
	"bytes"
	"io/fs"
	"strings"
)

// Logins reads from the login manager's files what it does with processes when a person logs out.
type Logins struct{ Root fs.FS } // "/", or what stands in for it

// Systemd reports whether systemd runs the machine.
func (l Logins) Systemd() bool {
	_, err := fs.Stat(l.Root, "run/systemd/system")
	return err == nil
}

// Lingers reports whether the services of a user outlive their last session.
func (l Logins) Lingers(user string) bool {
	if !fs.ValidPath(user) {
		return false
	}
	_, err := fs.Stat(l.Root, "var/lib/systemd/linger/"+user)
	return err == nil
}

// KillsSessions reports whether the end of a login kills the processes of its session. known is false if the files do
// not say. A distribution's file names its own default in a comment. A folder of drop-ins takes precedence over the
// file beside it.
func (l Logins) KillsSessions() (kills, known bool) {
	for _, base := range []string{"usr/lib/systemd/logind.conf", "run/systemd/logind.conf", "etc/systemd/logind.conf"} {
		l.readKills(base, &kills, &known)
	}
	for _, base := range []string{"usr/lib/systemd", "run/systemd", "etc/systemd"} {
		dropIns, _ := fs.Glob(l.Root, base+"/logind.conf.d/*.conf") // the pattern is well formed
		for _, path := range dropIns {
			l.readKills(path, &kills, &known)
		}
	}
	return kills, known
}

func (l Logins) readKills(path string, kills, known *bool) {
	text, err := fs.ReadFile(l.Root, path)
	if err != nil {
		return
	}
	said := false
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		isDefault := strings.HasPrefix(line, "#")
		value, found := strings.CutPrefix(strings.TrimPrefix(line, "#"), "KillUserProcesses=")
		if !found || isDefault && (said || *known) {
			continue
		}
		*kills, *known, said = isYes(value), true, true
	}
}

func isYes(value string) bool {
	switch strings.ToLower(strings.TrimSpace(value)) {
	case "yes", "true", "on", "1":
		return true
	}
	return false
}

// Cgroup returns the control group of a process, such as "/user.slice/user-1000.slice/session-3.scope", or "" if it
// is not known.
func Cgroup(pid int) string {
	text, err := readProc(pid, "cgroup")
	if err != nil {
		return ""
	}
	return parseCgroup(text)
}

// parseCgroup prefers the one hierarchy of version 2, then systemd's own of version 1.
func parseCgroup(text []byte) string {
	path := ""
	for line := range bytes.SplitSeq(bytes.TrimSpace(text), []byte{'\n'}) {
		if rest, ok := bytes.CutPrefix(line, []byte("0::")); ok && (path == "" || len(rest) > 1) {
			path = string(rest)
		}
		if _, rest, ok := bytes.Cut(line, []byte(":name=systemd:")); ok && len(path) < 2 {
			path = string(rest)
		}
	}
	return path
}
