package bridge_test

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"nbs-worker/internal/chat/bridge"
	"nbs-worker/internal/sim/rig"
	sim "nbs-worker/internal/sim/telegram"
)

// writing is a Claude that writes what the test says, and answers when it says so.
type writing struct {
	*house
	write  func(Progress)
	answer chan Answer
}

func newWriting() *writing {
	w := &writing{house: &house{}, answer: make(chan Answer)}
	var mu sync.Mutex
	listeners := map[int]func(Progress){}
	w.hear = func(_ string, heard func(Progress)) func() {
		mu.Lock()
		defer mu.Unlock()
		n := len(listeners)
		listeners[n] = heard
		return func() {
			mu.Lock()
			defer mu.Unlock()
			delete(listeners, n)
		}
	}
	w.write = func(p Progress) {
		mu.Lock()
		defer mu.Unlock()
		for _, heard := range listeners {
			heard(p)
		}
	}
	w.reply = func(ctx context.Context, _ string, _ Answer) (Answer, error) {
		select {
		case a := <-w.answer:
			return a, nil
		case <-ctx.Done():
			return Answer{}, ctx.Err()
		}
	}
	return w
}

// quick makes answers grow at once.
func quick(o *Options) { o.Grow = 2 * time.Millisecond }

// begin has a user write, and waits until the turn is listened to.
func (w *writing) begin(t *testing.T, server *sim.Server) {
	t.Helper()
	server.Say(7, "one")
	rig.Must(t, server.AwaitCalls(rig.Patient(t), "sendChatAction", 1))
}

// becomes waits until the bot's messages in the chat are these.
func becomes(t *testing.T, server *sim.Server, texts ...string) []sim.Message {
	t.Helper()
	_, err := server.AwaitIn(rig.Patient(t), 7, func(all []sim.Message) bool {
		var sent []string
		for _, m := range all {
			if m.Bot {
				sent = append(sent, m.Text)
			}
		}
		return slices.Equal(sent, texts)
	})
	rig.Check(t, err == nil, "the chat has %q, want %q", server.Sent(7), texts)
	return server.Bots(7)
}

func TestAnAnswerGrowsInOneMessage(t *testing.T) {
	t.Parallel()
	server := simulator(t)
	w := newWriting()
	run(t, server, w.house, quick)
	w.begin(t, server)
	w.write(Progress{Text: "I look **at"})
	becomes(t, server, "I look **at")
	w.write(Progress{Text: " it**."})
	w.write(Progress{Tool: "Bash", Text: "npm  test\nsecond line"})
	becomes(t, server, "I look **at it**.\n\nRunning Bash: npm test second line…")
	w.write(Progress{Text: "It is"})
	becomes(t, server, "It is")
	w.answer <- Answer{Text: "It is **good**."}
	m := becomes(t, server, "It is good.")[0]
	rig.Check(t, m.Before[0] == bridge.Ellipsis && len(m.Entities) == 1 && server.Calls("sendMessage") == 1, "%+v", m)
}

// No phone gives notice of an edit: an answer that has grown for long, whose user has left, is a new message.
func TestAnAnswerThatHasGrownForLongIsANewMessage(t *testing.T) {
	t.Parallel()
	server := simulator(t)
	w := newWriting()
	run(t, server, w.house, quick, func(o *Options) { o.InPlace = time.Nanosecond })
	w.begin(t, server)
	w.write(Progress{Text: "It"})
	grown := becomes(t, server, "It")[0]
	w.answer <- Answer{Text: "It is good."}
	m := becomes(t, server, "It is good.")[0]
	rig.Check(t, grown.Quiet && !m.Quiet && m.Number > grown.Number && len(m.Before) == 0, "%+v", m)
}

// An edit that is under way when the answer comes does not overwrite it.
func TestALateEditDoesNotOverwriteTheAnswer(t *testing.T) {
	t.Parallel()
	server := simulator(t)
	w := newWriting()
	run(t, server, w.house, quick)
	w.begin(t, server)
	release := server.Hold("editMessageText")
	w.write(Progress{Text: "It"})
	rig.Must(t, server.AwaitCalls(rig.Patient(t), "editMessageText", 1))
	w.answer <- Answer{Text: "It is good."}
	release()
	m := becomes(t, server, "It is good.")[0]
	rig.Same(t, "before", []string{bridge.Ellipsis, "It"}, m.Before)
}

func TestWhatTelegramRefusesWhileAnAnswerGrows(t *testing.T) {
	t.Parallel()
	const answer = "It is good."
	for name, test := range map[string]struct {
		failures []sim.Failure
		texts    []string // before the answer
		want     []string
	}{
		"a pause before the message":   {[]sim.Failure{{Method: "sendMessage", Code: http.StatusTooManyRequests, RetryAfter: 1}}, []string{"It"}, []string{answer}},
		"a pause before an edit":       {[]sim.Failure{{Method: "editMessageText", Code: http.StatusTooManyRequests, RetryAfter: 1}}, []string{"It"}, []string{answer}},
		"an edit whose answer is lost": {[]sim.Failure{{Method: "editMessageText", Done: true}}, []string{"It"}, []string{answer}},
		"the message is gone":          {[]sim.Failure{{Method: "editMessageText", Code: http.StatusBadRequest, Times: 2}}, []string{bridge.Ellipsis}, []string{answer}},
		"a pause before the answer":    {[]sim.Failure{{Method: "editMessageText", Code: http.StatusTooManyRequests, RetryAfter: 2}}, []string{bridge.Ellipsis}, []string{answer}},
		// Whether it arrived is not known, so nothing more is shown.
		"a message whose answer is lost": {[]sim.Failure{{Method: "sendMessage", Done: true}}, []string{bridge.Ellipsis}, []string{bridge.Ellipsis, answer}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := simulator(t)
			for _, f := range test.failures {
				server.Fail(f)
			}
			w := newWriting()
			run(t, server, w.house, quick)
			w.begin(t, server)
			w.write(Progress{Text: "It"})
			becomes(t, server, test.texts...)
			if test.texts[0] == bridge.Ellipsis {
				rig.Must(t, server.AwaitCalls(rig.Patient(t), test.failures[0].Method, 1))
			}
			w.answer <- Answer{Text: answer}
			becomes(t, server, test.want...)
			rig.Check(t, server.Hasty() == 0, "a method was called %d times before it was allowed to be", server.Hasty())
		})
	}
}

// What was written before a turn was held is not left behind as if it were the answer.
func TestAHeldAnswerIsWithdrawn(t *testing.T) {
	t.Parallel()
	server := simulator(t)
	w := newWriting()
	run(t, server, w.house, quick)
	w.begin(t, server)
	w.write(Progress{Text: "It is not"})
	becomes(t, server, "It is not")
	w.answer <- Answer{Class: "overloaded", RetryAt: time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)}
	held := "Claude is overloaded; your message is kept and will be tried again at 12:00 on 20 November."
	becomes(t, server, held)
	rig.WaitFor(t, "the turn is listened to", func() (bool, string) {
		w.write(Progress{Text: "x"})
		return len(server.Sent(7)) == 2, ""
	})
	w.answer <- Answer{Text: "It is good."}
	becomes(t, server, held, "It is good.")
}

// What was written when its user stopped it is left, as far as it is known.
func TestAStoppedAnswerIsLeft(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ says, want string }{{"It is", "It is\n\n(Stopped.)"}, {"", ""}} {
		server := simulator(t)
		w := newWriting()
		run(t, server, w.house, quick)
		w.begin(t, server)
		w.write(Progress{Text: test.says})
		w.write(Progress{Text: "npm test", Tool: "Bash"})
		becomes(t, server, strings.TrimSpace(test.says+"\n\nRunning Bash: npm test…"))
		w.answer <- Answer{Class: "interrupted", Error: bridge.ByStop}
		if test.want == "" {
			becomes(t, server)
			continue
		}
		becomes(t, server, test.want)
	}
}

// The number of a message counts in the group where it was sent. The chat that the group has become may have another
// message of that number.
func TestAnAnswerGrowsWhileItsGroupMoves(t *testing.T) {
	t.Parallel()
	server := simulator(t)
	server.Group(-9, "Home")
	w := newWriting()
	run(t, server, w.house, quick, func(o *Options) { o.Allowed = []int64{-9} })
	server.SayIn(-9, 1, "@"+sim.Name+" one")
	rig.Must(t, server.AwaitCalls(rig.Patient(t), "sendChatAction", 1))
	w.write(Progress{Text: "It"})
	rig.Must(t, server.AwaitCalls(rig.Patient(t), "editMessageText", 1))
	moved := server.Upgrade(-9, 1)
	w.answer <- Answer{Text: "It is good."}
	want(t, told(t, server, moved, 1), "It is good.")
	rig.Equal(t, server.Calls("editMessageText"), 2, "edits: the message of that number in the new chat is another")
}
