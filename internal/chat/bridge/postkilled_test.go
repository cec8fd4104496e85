package bridge_test

import (
	"path/filepath"
	"slices"
	"testing"

	"nbs-worker/internal/sim/rig"
	sim "nbs-worker/internal/sim/telegram"
)

// postNow has a bridge in a process of its own send a post.
const postNow = "BRIDGE_POST=need:1"

// killedAt runs a bridge that dies at a step, while during does something in the chat.
func killedAt(t *testing.T, server *sim.Server, file, dies string, during func()) {
	t.Helper()
	cmd := startBridge(t, server, file, dies, postNow)
	during()
	if err := cmd.Wait(); err == nil || err.Error() != "signal: killed" {
		t.Fatalf("the bridge ended with %v", err)
	}
}

// A post is sent once. If a killed bridge may have sent it, the next one says so.
func TestAPostIsSentOnceWhenTheBridgeIsKilled(t *testing.T) {
	t.Parallel()
	const text = "alpha asks for permission: Bash\n\ncommand: echo ```hi```"
	for dies, want := range map[string][]string{
		"before replying": {text},
		"after replying":  {PerhapsAgain + text},
		"before shown":    {text, PerhapsAgain + text},
		"after shown":     {text},
	} {
		t.Run(dies, func(t *testing.T) {
			t.Parallel()
			server, file := simulator(t), filepath.Join(t.TempDir(), "house")
			killedAt(t, server, file, dies, func() {})
			startBridge(t, server, file, "", postNow)
			h := &house{path: file}
			rig.WaitFor(t, "the post is noted", func() (bool, string) { return h.has("shown", "need:1"), "" })
			server.Press(7, 7, server.Bots(7)[len(want)-1].Number, "/approve 12345678")
			rig.WaitFor(t, "the answer is noted", func() (bool, string) { return h.has("answered", "12345678"), "" })
			rig.Must(t, server.AwaitAcknowledged(rig.Patient(t)))
			rig.Check(t, slices.Equal(server.Sent(7), want), "the chat was told %q, want %q", server.Sent(7), want)
		})
	}
}

// A button that was pressed answers once when the bridge is killed before or after that. The chat gets a word if its answer
// was there before.
func TestAButtonAnswersOnceWhenTheBridgeIsKilled(t *testing.T) {
	t.Parallel()
	for dies, want := range map[string][]string{"before answered": nil, "after answered": {"You have said so."}} {
		t.Run(dies, func(t *testing.T) {
			t.Parallel()
			server, file := simulator(t), filepath.Join(t.TempDir(), "house")
			killedAt(t, server, file, dies, func() {
				told(t, server, 7, 1)
				server.Press(7, 7, server.Bots(7)[0].Number, "/approve 12345678")
			})
			startBridge(t, server, file, "")
			rig.Must(t, server.AwaitAcknowledged(rig.Patient(t)))
			h := &house{path: file}
			answered := slices.DeleteFunc(h.lines(), func(l []string) bool { return l[0] != "answered" })
			rig.Check(t, len(answered) == 1, "answered: %q", answered)
			rig.Check(t, slices.Equal(server.Sent(7)[1:], want), "the chat was told %q, want %q", server.Sent(7)[1:], want)
		})
	}
}
