package doctor

import (
	"testing"
	"testing/fstest"

	"nbs-worker/internal/sim/rig"
)

func loginFiles(texts map[string]string) logins {
	root := fstest.MapFS{}
	for name, text := range texts {
		root[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return logins{root: root}
}

func TestKillsSessions(t *testing.T) {
	t.Parallel()
	const shipped, own, dropIn = "usr/lib/systemd/logind.conf", "etc/systemd/logind.conf", "etc/systemd/logind.conf.d/x.conf"
	for name, c := range map[string]struct {
		texts        map[string]string
		kills, known bool
	}{
		"nothing is said":                {nil, false, false},
		"the default, in a comment":      {map[string]string{own: "[Login]\n#KillUserProcesses=no\n"}, false, true},
		"another default":                {map[string]string{shipped: "#KillUserProcesses=yes\n"}, true, true},
		"what is set beats the default":  {map[string]string{own: "#KillUserProcesses=no\nKillUserProcesses=yes\n"}, true, true},
		"a comment behind it does not":   {map[string]string{own: "KillUserProcesses=yes\n#KillUserProcesses=no\n"}, true, true},
		"a drop-in beats the file":       {map[string]string{own: "KillUserProcesses=no\n", dropIn: "KillUserProcesses = ignored\nKillUserProcesses=yes\n"}, true, true},
		"the administrator beats others": {map[string]string{shipped: "KillUserProcesses=yes\n", own: "KillUserProcesses=no\n"}, false, true},
	} {
		kills, known := loginFiles(c.texts).killsSessions()
		rig.Check(t, kills == c.kills && known == c.known, "%s: %t, known %t", name, kills, known)
	}
}

func TestLingers(t *testing.T) {
	t.Parallel()
	l := loginFiles(map[string]string{"var/lib/systemd/linger/ann": "", "run/systemd/system/x": ""})
	rig.Check(t, l.lingers("ann") && !l.lingers("bob") && !l.lingers("../linger/ann") && l.systemd() && !loginFiles(nil).systemd(), "who lingers was not told apart")
}
