package doctor

import (
	"io/fs"
	"strings"
)

// logins reads from the login manager's files what it does with processes when a person logs out.
type logins struct{ root fs.FS } // "/", or what stands in for it

// systemd reports whether systemd runs the machine.
func (l logins) systemd() bool {
	_, err := fs.Stat(l.root, "run/systemd/system")
	return err == nil
}

// lingers reports whether the services of a user outlive their last session.
func (l logins) lingers(user string) bool {
	if !fs.ValidPath(user) {
		return false
	}
	_, err := fs.Stat(l.root, "var/lib/systemd/linger/"+user)
	return err == nil
}

// killsSessions reports whether the end of a login kills the processes of its session. known is false if the files do
// not say. A distribution's file names its own default in a comment. A folder of drop-ins takes precedence over the
// file beside it.
func (l logins) killsSessions() (kills, known bool) {
	for _, base := range []string{"usr/lib/systemd/logind.conf", "run/systemd/logind.conf", "etc/systemd/logind.conf"} {
		l.readKills(base, &kills, &known)
	}
	for _, base := range []string{"usr/lib/systemd", "run/systemd", "etc/systemd"} {
		dropIns, _ := fs.Glob(l.root, base+"/logind.conf.d/*.conf") // the pattern is well formed
		for _, path := range dropIns {
			l.readKills(path, &kills, &known)
		}
	}
	return kills, known
}

func (l logins) readKills(path string, kills, known *bool) {
	text, err := fs.ReadFile(l.root, path)
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
