package bridge_test

import (
	"context"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"nbs-worker/internal/fail"
	"nbs-worker/internal/sim/rig"
	sim "nbs-worker/internal/sim/telegram"
)

func TestTelegramsFailuresAreWaitedOut(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		failure sim.Failure
		want    []string
	}{
		"too many requests": {sim.Failure{Code: http.StatusTooManyRequests, RetryAfter: 1}, []string{"You said: hello"}},
		"server error":      {sim.Failure{Code: http.StatusInternalServerError, Times: 3}, []string{PerhapsAgain + "You said: hello"}},
		"a gateway's page":  {sim.Failure{Code: http.StatusBadGateway, HTML: true}, []string{PerhapsAgain + "You said: hello"}},
		"cut before":        {sim.Failure{}, []string{PerhapsAgain + "You said: hello"}},
		"cut after":         {sim.Failure{Done: true}, []string{"You said: hello", PerhapsAgain + "You said: hello"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := simulator(t)
			for _, method := range []string{"getMe", "getUpdates", "sendMessage"} {
				test.failure.Method = method
				server.Fail(test.failure)
			}
			run(t, server, &house{})
			server.Say(7, "hello")
			want(t, told(t, server, 7, len(test.want)), test.want...)
			rig.Check(t, server.Hasty() == 0, "a method was called %d times before it was allowed to be", server.Hasty())
		})
	}
}

// While the token is refused, nothing is sent, and no answer is lost.
func TestARefusedTokenLosesNoAnswer(t *testing.T) {
	t.Parallel()
	for _, code := range []int{http.StatusUnauthorized, http.StatusNotFound} {
		server := simulator(t)
		server.Fail(sim.Failure{Method: "sendMessage", Code: code, Times: 2})
		run(t, server, &house{})
		server.Say(7, "hello")
		want(t, told(t, server, 7, 1), "You said: hello")
	}
}

// An answer that Telegram refuses is not passed off as told: the chat hears of it, and the note says why.
func TestAnAnswerThatTelegramRefusesIsSaidToBeLost(t *testing.T) {
	t.Parallel()
	server := simulator(t)
	h := &house{path: filepath.Join(t.TempDir(), "house")}
	run(t, server, h)
	server.Fail(sim.Failure{Method: "sendMessage", Code: http.StatusBadRequest})
	server.Say(7, "one")
	lost := told(t, server, 7, 1)
	rig.Check(t, strings.HasPrefix(lost[0], "I could not tell you an answer") && strings.Contains(lost[0], "Bad Request"), "the chat has %q", lost)
	server.Say(7, "two")
	want(t, told(t, server, 7, 2)[1:], "You said: two")
	for _, l := range h.lines() {
		rig.Check(t, l[0] != "told" || l[1] != "telegram:1" || strings.Contains(strings.Join(l, " "), "Telegram refused"), "it is noted as told: %q", l)
	}
}

func TestAChatThatBlockedTheBotIsNotedOnce(t *testing.T) {
	t.Parallel()
	server := simulator(t)
	hold := make(chan struct{})
	delivered := make(chan struct{}, 10)
	h := &house{
		reply: func(_ context.Context, text string, _ Answer) (Answer, error) {
			if text != "one" {
				<-hold
			}
			return Answer{Text: "You said: " + text}, nil
		},
		at: func(step string) {
			if step == "after told" {
				delivered <- struct{}{}
			}
		},
	}
	b, log := run(t, server, h)
	server.Say(7, "one")
	<-delivered
	server.Say(7, "two")
	server.Say(7, "three")
	want(t, told(t, server, 7, 2), "You said: one", "Queued: 1 message before this one. It is answered after that.")
	server.Block(7, true)
	close(hold)
	<-delivered
	<-delivered // so that they are not tried again at each start
	ctx := t.Context()
	err := b.Tell(ctx, "telegram:7", "news")
	rig.Check(t, fail.KindOf(err) == fail.NotFound, "Tell returned %v", err)
	n := strings.Count(log.text(), "write to chat 7")
	rig.Check(t, n == 1, "it was noted %d times: %s", n, log.text())
	server.Block(7, false)
	server.Say(7, "four") // the user is back
	want(t, told(t, server, 7, 3)[2:], "You said: four")
}

func TestTellReachesAllowedChatsOnly(t *testing.T) {
	t.Parallel()
	server := simulator(t)
	b, err := newBridge(Options{Token: sim.Token, Allowed: []int64{7}, URL: server.URL(), Log: func(string) {}})
	rig.Must(t, err)
	if err := b.Tell(t.Context(), "telegram:7", "theologian is back"); err != nil { // though the bridge does not run
		t.Error(err)
	}
	want(t, server.Sent(7), "theologian is back")
	err = b.Tell(t.Context(), "telegram:8", "theologian is back")
	rig.Check(t, fail.KindOf(err) == fail.BadInput, "another chat was told: %v", err)
}

func TestTheTokenIsInNoError(t *testing.T) {
	t.Parallel()
	server := simulator(t)
	const wrong = "1000:not-the-token"
	log := &logged{}
	b, err := newBridge(Options{Token: wrong, Allowed: []int64{7}, URL: server.URL(), Log: log.add})
	rig.Must(t, err)
	err = b.Run(t.Context())
	rig.Check(t, fail.KindOf(err) == fail.Held && strings.Contains(err.Error(), "Telegram does not accept the token"), "a wrong token: %v", err)
	url := server.URL()
	ctx, cancel := context.WithCancel(rig.Patient(t))
	defer cancel()
	told := func(line string) { log.add(line); cancel() }
	nowhere, err := newBridge(Options{Token: wrong, Allowed: []int64{7}, URL: strings.Replace(url, "127.0.0.1", "127.0.0.1:1", 1)[:18], Log: told, Pause: time.Millisecond})
	rig.Must(t, err)
	err = nowhere.Run(ctx)
	rig.Check(t, err == nil, "a bridge that was stopped: %v", err)
	rig.Check(t, !strings.Contains(log.text(), "not-the-token"), "the token is in %q", log.text())
	rig.Check(t, strings.Contains(log.text(), "1000:***"), "the log tells nothing of the request: %q", log.text())
}
