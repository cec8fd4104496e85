package telegram

import (
	"context"
	"fmt"
	"net/http"
	"os"
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
	b, err := New(Options{Token: Token{sim.Token}, Allowed: []int64{7}, URL: server.URL(), Log: func(string) {}})
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
	b, err := New(Options{Token: Token{wrong}, Allowed: []int64{7}, URL: server.URL(), Log: log.add})
	rig.Must(t, err)
	err = b.Run(t.Context())
	rig.Check(t, fail.KindOf(err) == fail.Held && strings.Contains(err.Error(), "Telegram does not accept the token"), "a wrong token: %v", err)
	url := server.URL()
	ctx, cancel := context.WithCancel(rig.Patient(t))
	defer cancel()
	told := func(line string) { log.add(line); cancel() }
	nowhere, err := New(Options{Token: Token{wrong}, Allowed: []int64{7}, URL: strings.Replace(url, "127.0.0.1", "127.0.0.1:1", 1)[:18], Log: told, Pause: time.Millisecond})
	rig.Must(t, err)
	err = nowhere.Run(ctx)
	rig.Check(t, err == nil, "a bridge that was stopped: %v", err)
	_, polled := nowhere.getUpdates(t.Context(), 0)
	nowhere.log("%v", polled)
	for _, said := range []string{log.text(), nowhere.Token.String()} {
		rig.Check(t, !strings.Contains(said, "not-the-token"), "the token is in %q", said)
	}
	rig.Check(t, strings.Contains(log.text(), "1000:***"), "the log tells nothing of the request: %q", log.text())
}

func TestReadToken(t *testing.T) {
	write := func(mode os.FileMode, text string) string {
		file := filepath.Join(t.TempDir(), "token")
		rig.Must(t, os.WriteFile(file, []byte(text), mode))
		return file
	}
	t.Setenv(TokenVariable, "")
	for name, test := range map[string]struct {
		file string
		kind fail.Kind
	}{
		"good":             {write(0o600, "123:abc_DEF-\n"), 0},
		"read by others":   {write(0o644, "123:abc"), fail.BadInput},
		"no token":         {write(0o600, "secret/../x"), fail.BadInput},
		"empty":            {write(0o600, "\n"), fail.NotFound},
		"missing":          {filepath.Join(t.TempDir(), "none"), fail.NotFound},
		"a folder":         {t.TempDir(), fail.BadInput},
		"no file, no word": {"", fail.NotFound},
	} {
		token, err := ReadToken(test.file)
		switch {
		case test.kind == 0 && (err != nil || token.text != "123:abc_DEF-"):
			t.Errorf("%s: %q, %v", name, token.text, err)
		case test.kind != 0 && (err == nil || fail.KindOf(err) != test.kind):
			t.Errorf("%s: %v", name, err)
		case err != nil && strings.Contains(err.Error(), "secret"):
			t.Errorf("%s: the error tells the content: %v", name, err)
		}
	}
	t.Setenv(TokenVariable, "5:x")
	token, err := ReadToken("")
	rig.Check(t, err == nil && token.text == "5:x", "of the variable: %v", err)
}

// An update that cannot be acknowledged comes again at once: it is no news, for which Telegram would be asked at once.
func TestAnUpdateWithoutANumberIsPassedOver(t *testing.T) {
	t.Parallel()
	log := &logged{}
	b, err := New(Options{Token: Token{sim.Token}, Allowed: []int64{7}, Log: log.add})
	rig.Must(t, err)
	for _, raw := range []string{`{"message":{"text":"hi","chat":{"id":7}}}`, `{"update_id":-1}`, `{"update_id":"7"}`, `[]`} {
		rig.Check(t, !b.take(t.Context(), []byte(raw)), "%s counts as news", raw)
	}
	rig.Check(t, strings.Contains(log.text(), "has no number"), "log = %q", log.text())
}

// However many strangers write, what is remembered of them is bounded, and what was noted is not noted again.
func TestStrangersDoNotFillTheMemory(t *testing.T) {
	t.Parallel()
	log := &logged{}
	b, err := New(Options{Token: Token{sim.Token}, Log: log.add})
	rig.Must(t, err)
	for n := range 3000 {
		b.once(fmt.Sprintf("chat %d is not allowed", n%1500))
	}
	noted := strings.Count(log.text(), "\n") + 1
	rig.Check(t, len(b.noted) == 1000 && noted == 1000, "%d strangers are remembered, %d were noted", len(b.noted), noted)
}
