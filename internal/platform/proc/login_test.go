package proc

import (
	"testing"
	"testing/fstest"

	"nbs-worker/internal/sim/rig"
)

func files(texts map[string]string) Logins {
	root := fstest.MapFS{}
	for name, text := range texts {
		root[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return Logins{Root: root}
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
		kills, known := files(c.texts).KillsSessions()
		rig.Check(t, kills == c.kills && known == c.known, "%s: %t, known %t", name, kills, known)
	}
}

func TestLingers(t *testing.T) {
	t.Parallel()
	l := files(map[string]string{"var/lib/systemd/linger/ann": "", "run/systemd/system/x": ""})
	rig.Check(t, l.Lingers("ann") && !l.Lingers("bob") && !l.Lingers("../linger/ann") && l.Systemd() && !files(nil).Systemd(), "who lingers was not told apart")
}

func TestParseCgroup(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"0::/user.slice/user-1000.slice/session-3.scope\n":                                "/user.slice/user-1000.slice/session-3.scope",
		"12:cpu:/x\n1:name=systemd:/user.slice/session-4.scope\n0::/\n":                   "/user.slice/session-4.scope",
		"1:name=systemd:/user.slice/session-4.scope\n0::/user.slice/session-4.scope\n":    "/user.slice/session-4.scope",
		"0::/user.slice/user-1.slice/user@1.service/tmux.slice/tmux-spawn-1.scope\n1:x:/": "/user.slice/user-1.slice/user@1.service/tmux.slice/tmux-spawn-1.scope",
		"": "",
	} {
		got := parseCgroup([]byte(text))
		rig.Check(t, got == want, "%q: %q", text, got)
	}
}
