package local

import (
	"testing"

	"nbs-worker/internal/sim/rig"
)

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
