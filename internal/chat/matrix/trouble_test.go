package matrix_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"nbs-worker/internal/chat/bridge"
	"nbs-worker/internal/chat/matrix"
	sim "nbs-worker/internal/sim/matrix"
	"nbs-worker/internal/sim/rig"
)

// What cannot be told in an encrypted room makes the bot deaf nowhere.
func TestAnEncryptedRoomThatTakesNoWordsDelaysNoOther(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.begin()
	w.Encrypt(home, ann)
	w.Say(home, ann, "secret")
	w.Say(own, ann, "one")
	w.Fail(sim.Failure{Method: "send", Code: http.StatusInternalServerError})
	rig.Same(t, "the other room", []string{"one"}, w.next(s))
	w.Say(home, ann, "secret")
	rig.Same(t, "later", []string{}, w.next(s))
	rig.Same(t, "the encrypted room is told at the next message", 1, len(w.Bots(home)))
}

// Anyone may write any text in the place of an event's ID. It must not be asked for: a gateway refuses a long address.
func TestAnIDThatIsNone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.begin()
	for _, id := range []string{"$" + strings.Repeat("x", 9000), "..", "no id"} {
		w.Say(own, ann, "an answer", sim.ReplyingTo(id))
		w.Say(own, ann, "in a thread", sim.InThread(id))
	}
	for _, u := range w.updates(s) {
		rig.Same(t, "where it is", bridge.Place{Chat: own}, u.At)
	}
	rig.Same(t, "asked for", 0, w.Calls("event"))
}

// A message that the homeserver never gives must not keep all the later ones from the bot.
func TestAMessageThatIsWithheldIsGivenUp(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.begin()
	first := w.Say(own, ann, "first")
	w.next(s)
	w.Say(own, ann, "an answer", sim.ReplyingTo(first.ID))
	w.Fail(sim.Failure{Method: "event", Code: http.StatusNotFound, HTML: true, Times: 8})
	w.Fail(sim.Failure{Method: "whoami", Code: http.StatusBadGateway})
	tries := 0
	for ; ; tries++ {
		updates, err := s.Next(t.Context())
		if err == nil {
			rig.Same(t, "updates", 1, len(updates))
			rig.Check(t, updates[0].Answers != nil, "what the homeserver gives after an interruption: %+v", updates[0])
			break
		}
	}
	rig.Same(t, "tries before the homeserver is up again", 8, tries)
	w.Say(own, ann, "an answer", sim.ReplyingTo(first.ID))
	w.Fail(sim.Failure{Method: "event", Code: http.StatusNotFound, HTML: true, Times: 100})
	for tries = 0; tries < 100; tries++ {
		if updates, err := s.Next(t.Context()); err == nil {
			rig.Same(t, "the text", "an answer", updates[0].Text)
			break
		}
	}
	rig.Same(t, "tries", 7, tries)
	rig.Same(t, "the operator knows", true, w.saying("it is taken as gone"))
}

// A homeserver that is somewhere else now gets no question in place of a message, which would look as if it were sent, and
// no token on a way that others can read.
func TestAMessageIsNotSentToAnotherAddress(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	asked := 0
	moved := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case strings.HasSuffix(r.URL.Path, "/versions"):
			http.Redirect(w, r, "http://elsewhere.invalid/", http.StatusFound)
		case r.Method == http.MethodGet:
			asked++
			_, _ = w.Write([]byte(`{"event_id":"$1"}`))
		default:
			http.Redirect(w, r, r.URL.Path, http.StatusMovedPermanently)
		}
	}))
	t.Cleanup(moved.Close)
	s := w.open(func(o *matrix.Options) { o.Homeserver = moved.URL })
	_, err := s.Send(t.Context(), bridge.Place{Chat: home}, "1", bridge.Message{Text: "hello"})
	rig.Check(t, err != nil && strings.Contains(err.Error(), "status 301") && asked == 0, "%v, asked %d times", err, asked)
	_, err = s.Start(t.Context())
	rig.Check(t, err != nil && strings.Contains(err.Error(), "status 302"), "%v", err)
}

// A homeserver that was set up again does not know the place in the file. The operator is told what to do; nothing is left
// out without them.
func TestAPlaceThatTheHomeserverDoesNotKnow(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.begin()
	w.past.Since = "from another one"
	_, err := w.open().Start(t.Context())
	rig.Check(t, err != nil && strings.Contains(err.Error(), "Invalid stream token"), "%v", err)
	rig.Check(t, w.saying("remove .nbs/matrix.json") && w.past.Since == "from another one", "%q", w.said)
}

// A message that may have been answered so long ago that it is not known any more is not answered again. One that is
// newer is taken, and so is each one behind a place that is newer, whatever its sender says of its time.
func TestWhatIsOlderThanWhatIsKnownIsPassedOver(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		now, place time.Duration // from when the message was sent
		want       string
	}{
		{now: week + time.Hour, place: -time.Hour, want: ""},
		{now: week + time.Hour, place: 2 * time.Hour, want: "hello"},
		{now: week - time.Hour, place: -2 * time.Hour, want: "hello"},
	} {
		w := newWorld(t)
		w.begin()
		sent := time.Now()
		w.Say(own, ann, "hello")
		w.past.At = sent.Add(test.place)
		s := w.open(func(o *matrix.Options) { o.Now = func() time.Time { return sent.Add(test.now) } })
		_, err := s.Start(t.Context())
		rig.Must(t, err)
		rig.Same(t, "what is taken", test.want, strings.Join(w.next(s), ""))
		rig.Same(t, "the operator knows", test.want == "", w.saying("is passed over: whether it was answered is not known any more"))
		rig.Same(t, "when the place was recorded", sent.Add(test.now).UTC(), w.kept().At)
		w.Say(own, ann, "now")
		rig.Same(t, "what comes then", "now", strings.Join(w.next(s), ""))
	}
}
