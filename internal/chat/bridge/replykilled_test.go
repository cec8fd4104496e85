package bridge_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"nbs-worker/internal/sim/rig"
)

// The reply to a command is sent once. If a killed bridge may have sent it, the next one says so.
func TestAReplyIsSentOnceWhenTheBridgeIsKilled(t *testing.T) {
	t.Parallel()
	for _, command := range []string{"/status", "/new", "/sessions", "/stop"} {
		for dies, again := range map[string]bool{"before replying": false, "after replying": true, "before told": true, "after told": false} {
			t.Run(command+", "+dies, func(t *testing.T) {
				t.Parallel()
				server := simulator(t)
				file := filepath.Join(t.TempDir(), "house")
				server.Say(7, command)
				if err := startBridge(t, server, file, dies).Wait(); err == nil || err.Error() != "signal: killed" {
					t.Fatalf("the bridge ended with %v", err)
				}
				told := server.Sent(7)
				sent := strings.HasSuffix(dies, "told")
				rig.Check(t, sent == (len(told) == 1), "the killed bridge sent %q", told)
				server.Say(7, "two")
				startBridge(t, server, file, "")
				count := 2
				if sent && again {
					count = 3
				}
				told = toldAnswers(t, server, 7, count)
				rig.Must(t, server.AwaitAcknowledged(rig.Patient(t)))
				marked := strings.Count(strings.Join(told, "|"), PerhapsAgain) // what is urgent may come after the answer
				rig.Check(t, len(server.Sent(7)) == count && (marked == 1) == again && slices.Contains(told, "You said: two"), "the chat was told %q", told)
			})
		}
	}
}
