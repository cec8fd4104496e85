package bridge_test

import (
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"nbs-worker/internal/chat/bridge"
	"nbs-worker/internal/sim/rig"
	sim "nbs-worker/internal/sim/telegram"
)

// What is written behind a command that waits is noted, so that the bot is not deaf, and accepted after it, in order; also
// by the next bridge.
func TestWhatIsBehindAWaitingCommandIsNoted(t *testing.T) {
	t.Parallel()
	server, h := simulator(t), newSlow("")
	h.path = t.TempDir() + "/house"
	_, _, stop := runUntil(t, server, &h.house)
	server.Say(7, "long")
	<-h.begun
	server.Say(7, "/new")
	for n := range bridge.Backlog {
		server.Say(7, strconv.Itoa(n))
	}
	server.Say(7, "/usage")
	server.Say(8, "hello")
	want(t, toldAnswers(t, server, 8, 1), "You said: hello")
	rig.Must(t, server.AwaitAcknowledged(rig.Patient(t)))
	stop()

	next := &house{path: h.path}
	run(t, server, next)
	sent := toldAnswers(t, server, 7, bridge.Backlog+3)
	want(t, sent[:2], "You said: long", "Starting fresh; the old conversation is kept as old-1.")
	for n, m := range next.all() {
		rig.Check(t, m.Text == strconv.Itoa(n) && m.Key == "telegram:7", "%d is %+v", n, m)
	}
	rig.WaitFor(t, "all is over", func() (bool, string) {
		open, err := next.Undelivered(t.Context())
		return len(open) == 0 && err == nil, ""
	})
}

// A photo is not noted, and neither is what is behind it: it would be before it for the next bridge.
func TestWhatIsBehindAPhotoIsNotNotedBeforeIt(t *testing.T) {
	t.Parallel()
	server, h := simulator(t), newSlow("")
	h.path = t.TempDir() + "/house"
	_, _, stop := runUntil(t, server, &h.house)
	server.Say(7, "long")
	<-h.begun
	server.Say(7, "/new")
	server.Say(7, "one")
	server.Photo(7, []byte("x"), sim.Captioned("two"))
	server.Say(7, "three")
	rig.WaitFor(t, "the first is noted", func() (bool, string) {
		h.mu.Lock()
		defer h.mu.Unlock()
		return h.has("command", "telegram:3"), ""
	})
	stop()

	next := &house{path: h.path}
	run(t, server, next)
	toldAnswers(t, server, 7, 5)
	var texts []string
	for _, m := range next.all() {
		texts = append(texts, m.Text)
	}
	want(t, texts, "one", "two", "three")
}

// A reply to a post that is noted goes to its agent, also by the next bridge: a note does not say what it answers.
func TestAReplyBehindAWaitingCommandIsForItsAgent(t *testing.T) {
	t.Parallel()
	server, h := simulator(t), newSlow("")
	h.path = t.TempDir() + "/house"
	b, _, stop := runUntil(t, server, &h.house)
	m := posted(t, b, server, "need:1")
	server.Say(7, "long")
	<-h.begun
	server.Say(7, "/new")
	server.Write(sim.Message{Chat: 7, From: 7, Text: "use make", ReplyTo: m.Number})
	rig.WaitFor(t, "the reply is noted", func() (bool, string) { return h.has("command", "telegram:3"), "" })
	stop()

	next := &house{path: h.path}
	run(t, server, next)
	rig.WaitFor(t, "the agent has it", func() (bool, string) {
		for _, said := range server.Bots(7) {
			if said.Text == "sent to alpha as telegram:3: use make" {
				return true, ""
			}
		}
		return false, ""
	})
	rig.Equal(t, len(next.all()), 0, "messages for Claude of the next bridge")
}

// A file that is sent slowly keeps nothing from the others.
func TestASlowFileDoesNotMakeTheBotDeaf(t *testing.T) {
	t.Parallel()
	server := simulator(t)
	h := &house{folder: t.TempDir()}
	rig.Must(t, os.WriteFile(filepath.Join(h.folder, "report.pdf"), []byte("%PDF"), 0o600))
	run(t, server, h)
	release := server.Hold("sendDocument")
	server.Say(7, "/file report.pdf")
	rig.Must(t, server.AwaitCalls(rig.Patient(t), "sendDocument", 1))
	for n := range bridge.Backlog {
		server.Say(7, strconv.Itoa(n))
	}
	server.Say(8, "hello")
	want(t, told(t, server, 8, 1), "You said: hello")
	release()
	toldAnswers(t, server, 7, bridge.Backlog+1)
	all := h.all()
	rig.Check(t, len(all) == bridge.Backlog+1 && all[bridge.Backlog].Text == "99", "%d messages, the last is %+v", len(all), all[len(all)-1])
}

// A bridge that ends does not wait for a slow upload: the next one sends the file.
func TestASlowFileDoesNotDelayTheEnd(t *testing.T) {
	t.Parallel()
	server := simulator(t)
	h := &house{folder: t.TempDir(), path: t.TempDir() + "/house"}
	rig.Must(t, os.WriteFile(filepath.Join(h.folder, "report.pdf"), []byte("%PDF"), 0o600))
	_, _, stop := runUntil(t, server, h, func(o *Options) { o.Leave = time.Millisecond })
	release := server.Hold("sendDocument")
	server.Say(7, "/file report.pdf")
	rig.Must(t, server.AwaitCalls(rig.Patient(t), "sendDocument", 1))
	ended := make(chan struct{})
	go func() { stop(); close(ended) }()
	select {
	case <-ended:
	case <-rig.Patient(t).Done():
		t.Error("it waits for the upload")
	}
	release()
	run(t, server, h)
	rig.Must(t, server.AwaitCalls(rig.Patient(t), "sendDocument", 2))
}
