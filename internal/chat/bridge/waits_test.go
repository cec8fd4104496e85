package bridge_test

import (
	"testing"

	"nbs-worker/internal/chat/bridge"
	"nbs-worker/internal/sim/rig"
	sim "nbs-worker/internal/sim/telegram"
)

// Telegram gives only a hundred messages at a time. A command that waits for a long answer is none of them, so what others
// write is heard.
func TestACommandThatWaitsDoesNotMakeTheBotDeaf(t *testing.T) {
	t.Parallel()
	server, h := simulator(t), newSlow("")
	server.Group(-9, "Home")
	run(t, server, &h.house, func(o *Options) { o.Allowed = append(o.Allowed, -9) })
	server.Say(7, "long")
	<-h.begun
	server.Say(7, "/new")
	for range bridge.Backlog {
		server.SayAs(101, -9, "not for the bot")
	}
	server.Say(8, "hello")
	want(t, toldAnswers(t, server, 8, 1), "You said: hello")
	rig.Must(t, server.AwaitAcknowledged(rig.Patient(t)))
	server.Say(7, "/stop")
	sent := toldAnswers(t, server, 7, 2)
	rig.Check(t, sent[0] != sent[1] && h.resets == 1, "%q", sent)
}

// A reset that waited when the bridge ended is done by the next bridge, once, before what was written behind it.
func TestAWaitingResetIsTakenUp(t *testing.T) {
	t.Parallel()
	server, h := simulator(t), newSlow("")
	h.path = t.TempDir() + "/house"
	_, _, stop := runUntil(t, server, &h.house)
	server.Say(7, "long")
	<-h.begun
	server.Say(7, "/new")
	rig.Must(t, server.AwaitAcknowledged(rig.Patient(t)))
	stop()
	server.Say(7, "behind")
	next := &house{path: h.path}
	run(t, server, next)
	want(t, toldAnswers(t, server, 7, 3), "You said: long", "Starting fresh; the old conversation is kept as old-1.", "You said: behind")
	rig.WaitFor(t, "the command is over", func() (bool, string) {
		open, err := next.Undelivered(t.Context())
		return len(open) == 0 && err == nil, ""
	})
}

// A command that Telegram gives again after it was obeyed is not obeyed again.
func TestACommandThatComesAgainIsObeyedOnce(t *testing.T) {
	t.Parallel()
	server, h := simulator(t), &house{path: t.TempDir() + "/house"}
	rig.Must(t, h.add("command telegram:1 telegram:7 /new"))
	rig.Must(t, h.add("told telegram:1"))
	run(t, server, h)
	server.Write(sim.Message{Chat: 7, Text: "/new"})
	server.Say(7, "hello")
	want(t, toldAnswers(t, server, 7, 1), "You said: hello")
}
