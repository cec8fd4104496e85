package claude

import (
	"testing"

	"nbs-worker/internal/sim/rig"
)

// Command lines of 2.1.329, which names the processes of its sessions in the background.
func TestIsBackground(t *testing.T) {
	t.Parallel()
	for _, cmdline := range [][]string{
		{"/opt/claude/2.1.329", "daemon", "run", "--origin", "transient", "--spawned-by", `{"pid":1}`},
		{"/opt/claude", "daemon", "run", "--json-path", "/x", "--log-file", "/y", "--origin", "transient"},
		{"claude bg-pty-host", "--bg-pty-host", "/tmp/x.sock", "200", "50", "--", "/opt/claude", "--bg-spare", "/tmp/y.sock"},
		{"claude bg-spare", "--bg-spare", "/tmp/y.sock"},
	} {
		rig.Check(t, IsBackground(cmdline), "%q", cmdline)
	}
	for _, cmdline := range [][]string{nil, {"claude"}, {"claude", "daemon", "status"}, {"claude", "say --bg-spare"}, {"claude", "--bg", "hello"}, {"dockerd", "daemon"}} {
		rig.Check(t, !IsBackground(cmdline), "%q counts as of the background", cmdline)
	}
}
