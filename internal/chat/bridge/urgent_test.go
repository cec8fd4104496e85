package bridge_test

import (
	"context"
	"slices"
	"sync"
	"testing"

	"nbs-worker/internal/chat/bridge"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/sim/rig"
)

// slow is a house whose messages are answered when they are stopped: the first one that runs.
type slow struct {
	house

	begun   chan string // each text that is waited for
	stopped chan struct{}
	ids     []string // of the stops
	why     string
}

func newSlow(acted string) *slow {
	h := &slow{begun: make(chan string, 10), stopped: make(chan struct{})}
	h.reply = func(ctx context.Context, text string, _ Answer) (Answer, error) {
		if text != "long" {
			return Answer{Text: "You said: " + text}, nil
		}
		h.begun <- text
		select {
		case <-h.stopped:
			return Answer{Class: "interrupted", Error: h.why, Acted: acted}, nil
		case <-ctx.Done():
			return Answer{}, ctx.Err()
		}
	}
	stop := sync.OnceFunc(func() { close(h.stopped) })
	h.interrupt = func(id, why string) (Interruption, error) {
		h.ids, h.why = append(h.ids, id), why
		stop()
		return Interruption{Is: true, Acted: acted}, nil
	}
	return h
}

// /stop and ! end the message that is being answered, past those that wait and a reset that waits for them. The user
// is told once, what acted too, and what is behind it goes on.
func TestStopIsNotBehindWhatWaits(t *testing.T) {
	t.Parallel()
	for _, command := range []string{"/stop", "!", " ! "} {
		t.Run(command, func(t *testing.T) {
			t.Parallel()
			server, h := simulator(t), newSlow("Bash and Write")
			run(t, server, &h.house)
			for _, text := range []string{"long", "next", "/new", "/status"} {
				server.Say(7, text)
			}
			<-h.begun
			want(t, toldAnswers(t, server, 7, 1), "telegram:7: 0 resets")
			server.Say(7, command)
			sent := toldAnswers(t, server, 7, 4)
			rig.Must(t, server.AwaitAcknowledged(rig.Patient(t)))
			slices.Sort(sent) // the two workers of the chat write beside each other
			want(t, sent, "Starting fresh; the old conversation is kept as old-1.", "Stopped. Claude had used Bash and Write. The conversation goes on.", "You said: next", "telegram:7: 0 resets")
			rig.Check(t, len(h.ids) == 1 && h.why == bridge.ByStop, "%q, %s", h.ids, h.why)
		})
	}
}

// /new now stops what runs, and then begins a new conversation; /new alone waits.
func TestNewNowStopsFirst(t *testing.T) {
	t.Parallel()
	server, h := simulator(t), newSlow("")
	run(t, server, &h.house)
	server.Say(7, "long")
	<-h.begun
	server.Say(7, "/new now")
	sent := toldAnswers(t, server, 7, 2)
	rig.Must(t, server.AwaitAcknowledged(rig.Patient(t)))
	want(t, sent, "Stopped.", "Starting fresh; the old conversation is kept as old-1.")
	rig.Check(t, h.why == bridge.ByNew, "%s", h.why)
}

// What a stop finds is said as it is.
func TestStopSaysWhatItFound(t *testing.T) {
	t.Parallel()
	for says, found := range map[string]struct {
		is  Interruption
		err error
	}{
		"Nothing is running.":                          {},
		"It had just ended.":                           {is: Interruption{Ended: true}},
		"Stopped. The conversation goes on.":           {is: Interruption{Is: true}},
		"Stopped. It slept. The conversation goes on.": {is: Interruption{Is: true, After: "It slept."}},
		"It could not be stopped: pid 7 is suspended.": {err: fail.Errorf(fail.TimedOut, "pid 7 is suspended")},
		"Nothing is running: it is held.":              {err: fail.Errorf(fail.Held, "it is held")},
	} {
		t.Run(says, func(t *testing.T) {
			t.Parallel()
			server, h := simulator(t), &house{}
			h.interrupt = func(string, string) (Interruption, error) { return found.is, found.err }
			run(t, server, h)
			server.Say(7, "/stop")
			want(t, told(t, server, 7, 1), says)
		})
	}
}

// Another's stop is told as the outcome of the message.
func TestAStopByAnotherIsTold(t *testing.T) {
	t.Parallel()
	server := simulator(t)
	h := &house{reply: func(context.Context, string, Answer) (Answer, error) {
		return Answer{Class: "interrupted", Error: "stopped by nbs-worker conversation interrupt", Acted: "Bash"}, nil
	}}
	run(t, server, h)
	server.Say(7, "long")
	want(t, told(t, server, 7, 1), "Your message was stopped (stopped by nbs-worker conversation interrupt). Claude had used Bash. The conversation goes on.")
}

// A stop right behind a message is about that message, not about what ran before it was taken.
func TestStopWaitsForTheMessageBeforeIt(t *testing.T) {
	t.Parallel()
	server, h := simulator(t), newSlow("")
	stop := h.interrupt
	h.interrupt = func(id, why string) (Interruption, error) {
		rig.Check(t, len(h.lines()) > 0, "nothing was accepted by the time of the stop")
		return stop(id, why)
	}
	server.Say(7, "long")
	server.Say(7, "/stop")
	run(t, server, &h.house)
	want(t, told(t, server, 7, 1), "Stopped. The conversation goes on.")
}

// What is written behind a stop is none of what it is for, also if it is accepted before the stop is carried out.
func TestAStopIsForNothingBehindIt(t *testing.T) {
	t.Parallel()
	server, h := simulator(t), &house{}
	accepted, found := make(chan struct{}), make(chan [2]bool, 1)
	h.reply = func(_ context.Context, text string, _ Answer) (Answer, error) {
		if text == "behind" {
			close(accepted)
		}
		return Answer{Text: "You said: " + text}, nil
	}
	h.interrupting = func(isBehind func(string) bool) (Interruption, error) {
		<-accepted
		found <- [2]bool{isBehind("telegram:1"), isBehind("telegram:3")}
		return Interruption{}, nil
	}
	for _, text := range []string{"before", "/stop", "behind"} {
		server.Say(7, text)
	}
	run(t, server, h)
	sent := toldAnswers(t, server, 7, 3)
	slices.Sort(sent)
	want(t, sent, "Nothing is running.", "You said: before", "You said: behind")
	rig.Equal(t, <-found, [2]bool{false, true}, "what is behind the stop")
}
