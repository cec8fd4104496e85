package bridge_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"nbs-worker/internal/chat/bridge"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/sim/rig"
	sim "nbs-worker/internal/sim/telegram"
)

// AnswerAgent notes the first answer to a request, which counts. The same user may say it again.
func (h *house) AnswerAgent(_ context.Context, a bridge.Answering) (bridge.Answered, error) {
	if a.Request == "00000000" {
		return bridge.Answered{}, fail.Errorf(fail.TimedOut, "the hook has not taken it")
	}
	said := fmt.Sprintf("%s %v %q %q", a.By, a.Allow, a.Choice, a.Message)
	before, err := h.note("answered", a.Request, said)
	switch {
	case before && h.rest("answered", a.Request) == said:
		return bridge.Answered{Late: true, Text: "You have said so."}, err
	case before:
		return bridge.Answered{Late: true, Text: "Too late."}, err
	}
	return bridge.Answered{Text: "alpha: done."}, err
}

// AgentOf knows the posts that were sent.
func (h *house) AgentOf(_ context.Context, _ string, m bridge.Sent) (string, error) {
	for _, l := range h.lines() {
		if l[0] == "shown" && strings.HasPrefix(l[1], "need:") && l[2] == m.Message && strings.HasSuffix(l[3], " "+m.Chat) {
			return "alpha", nil
		}
	}
	return "", nil
}

var request = bridge.Post{
	Title: "alpha asks for permission: Bash", Body: "command: echo ```hi```", Whole: "The whole of it: nbs-worker requests alpha",
	Choices: []bridge.Choice{{Label: "Approve", Command: "/approve 12345678"}, {Label: "Deny", Command: "/deny 12345678"}},
}

// mayAnswer lets user 7 answer.
func mayAnswer(o *Options) { o.Answers = []int64{7} }

// posted has a bridge send a post to chat 7, and returns its message.
func posted(t *testing.T, b *Bridge, server *sim.Server, id string) sim.Message {
	t.Helper()
	rig.Must(t, b.Post(rig.Patient(t), "telegram:7", id, request))
	bots := server.Bots(7)
	return bots[len(bots)-1]
}

// A post is sent once. Its button answers, and what became of it takes its place.
func TestAPostIsSentOnceAndChanged(t *testing.T) {
	t.Parallel()
	server := simulator(t)
	h := &house{}
	b, _ := run(t, server, h, mayAnswer)
	m := posted(t, b, server, "need:1")
	rig.Same(t, "the post", "alpha asks for permission: Bash\n\ncommand: echo ```hi```", m.Text)
	rig.Equal(t, len(m.Buttons), 2, "buttons")
	rig.Check(t, !m.Quiet, "no phone gives notice of it")
	posted(t, b, server, "need:1")
	rig.Equal(t, server.Calls("sendMessage"), 1, "messages")

	server.Press(7, 7, m.Number, "/approve 12345678")
	rig.WaitFor(t, "the answer is noted", func() (bool, string) { return h.has("answered", "12345678"), "" })
	server.Press(7, 7, m.Number, "/deny 12345678")
	want(t, told(t, server, 7, 2)[1:], "Too late.")
	over := request
	over.Outcome = "Allowed by telegram:7."
	rig.Must(t, b.Change(rig.Patient(t), "telegram:7", "need:1", over))
	rig.Must(t, b.Change(rig.Patient(t), "telegram:7", "need:1", over))
	m = server.Message(m.Number)
	rig.Check(t, strings.HasSuffix(m.Text, "\n\nAllowed by telegram:7.") && len(m.Buttons) == 0, "%+v", m)

	server.Say(7, "/approve 99999999")
	want(t, told(t, server, 7, 3)[2:], "alpha: done.")
	server.Say(7, "/deny 88888888 not now")
	want(t, told(t, server, 7, 4)[3:], "alpha: done.")
	rig.Same(t, "the refusal", `telegram:7 false "" "not now"`, h.rest("answered", "88888888"))
	server.Say(7, "/answer 77777777 the red one")
	want(t, told(t, server, 7, 5)[4:], "alpha: done.")
	rig.Same(t, "the choice", `telegram:7 false "the red one" ""`, h.rest("answered", "77777777"))
	server.Say(7, "/approve 00000000")
	want(t, told(t, server, 7, 6)[5:], "/approve did not work: the hook has not taken it.")
}

// rest returns what a line says behind its id.
func (h *house) rest(step, id string) string {
	for _, l := range h.lines() {
		if l[0] == step && l[1] == id {
			return strings.Join(l[2:], " ")
		}
	}
	return ""
}

// Who may write may not answer unless that is said: also not in a chat where another one may.
func TestOnlySomeMayAnswer(t *testing.T) {
	t.Parallel()
	server := simulator(t)
	server.Supergroup(-7, "Home")
	h := &house{}
	run(t, server, h, mayAnswer, func(o *Options) { o.Allowed, o.InGroups = []int64{7, 8, -7}, true })
	const refused = "You may not answer what agents ask. The owner of the bot can let you: nbs-worker serve setup telegram --answers 8"
	server.Say(8, "/approve 12345678")
	want(t, told(t, server, 8, 1), refused)
	server.SayIn(-7, 8, "/deny 12345678")
	want(t, told(t, server, -7, 1), refused)
	rig.Check(t, !h.has("answered", "12345678"), "it was answered")
	server.SayIn(-7, 7, "/deny 12345678")
	want(t, told(t, server, -7, 2)[1:], "alpha: done.")
}

// An answer does not wait for what its chat has written before.
func TestAnAnswerWaitsForNoOther(t *testing.T) {
	t.Parallel()
	server := simulator(t)
	w := newWriting()
	run(t, server, w.house, mayAnswer)
	w.begin(t, server)
	server.Say(7, "/new")
	told(t, server, 7, 1)
	server.Say(7, "/approve 12345678")
	want(t, told(t, server, 7, 2)[1:], "alpha: done.")
	w.answer <- Answer{Text: "It is good."}
}

// A text that answers a post goes to its agent. A chat that may not reach agents gets no post.
func TestAReplyToAPostIsForItsAgent(t *testing.T) {
	t.Parallel()
	server := simulator(t)
	h := &house{}
	b, _ := run(t, server, h, mayAnswer)
	m := posted(t, b, server, "need:1")
	server.Write(sim.Message{Chat: 7, From: 7, Text: "use make\nand go on", ReplyTo: m.Number})
	want(t, told(t, server, 7, 2)[1:], "sent to alpha as telegram:1: use make\nand go on")
	rig.Equal(t, len(h.all()), 0, "messages for Claude")
	server.Write(sim.Message{Chat: 7, From: 7, Text: "and you?", ReplyTo: server.Bots(7)[1].Number})
	want(t, told(t, server, 7, 3)[2:], "You said: and you?")

	off := simulator(t)
	b, _ = run(t, off, &house{}, mayAnswer, func(o *Options) { o.NotInPrivate = true })
	err := b.Post(rig.Patient(t), "telegram:7", "need:1", request)
	rig.Check(t, fail.KindOf(err) == fail.BadInput && off.Calls("sendMessage") == 0, "%v, %d messages", err, off.Calls("sendMessage"))
}

// A body that does not fit is cut at the end of a line, and what became of it is still there.
func TestALongPostIsOneMessage(t *testing.T) {
	t.Parallel()
	server := simulator(t)
	b, _ := run(t, server, &house{}, mayAnswer)
	long := request
	long.Body = strings.Repeat("a line of 🙂 and `ticks`\n", 1000)
	rig.Must(t, b.Post(rig.Patient(t), "telegram:7", "need:1", long))
	text := server.Bots(7)[0].Text
	rig.Check(t, strings.HasSuffix(text, "`ticks`\n…\n\nThe whole of it: nbs-worker requests alpha"), "%q", text)
	long.Outcome = "Over."
	rig.Must(t, b.Change(rig.Patient(t), "telegram:7", "need:1", long))
	text = server.Bots(7)[0].Text
	rig.Check(t, strings.HasSuffix(text, "nbs-worker requests alpha\n\nOver."), "%q", text)
}
