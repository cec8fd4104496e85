package matrix_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"nbs-worker/internal/chat/bridge"
	"nbs-worker/internal/chat/matrix"
	"nbs-worker/internal/fail"
	sim "nbs-worker/internal/sim/matrix"
	"nbs-worker/internal/sim/rig"
)

const (
	ann  = "@ann:localhost"
	bob  = "@bob:localhost"
	eve  = "@eve:localhost"
	home = "!home:localhost" // Ann, Bob and the bot
	own  = "!own:localhost"  // Ann and the bot

	week = 7 * 24 * time.Hour // for so long it is known what was answered
)

// world is a homeserver with a bot.
type world struct {
	*sim.Server

	t *testing.T

	mu   sync.Mutex // rooms are joined beside the test
	past matrix.Progress
	said []string
}

func newWorld(t *testing.T) *world {
	t.Helper()
	s, err := sim.Start(sim.Options{})
	rig.Must(t, err)
	w := &world{Server: s, t: t}
	t.Cleanup(func() {
		if faults := s.Faults(); len(faults) > 0 {
			t.Errorf("what was wrong with the bot's requests: %q", faults)
		}
		rig.Must(t, s.Close())
	})
	s.Know(ann, "Ann")
	s.Know(bob, "Bob")
	s.Room(home, "Home", ann, bob, sim.Bot)
	s.Room(own, "Ann", ann, sim.Bot)
	return w
}

// open connects as the next process would.
func (w *world) open(change ...func(*matrix.Options)) *matrix.System {
	w.t.Helper()
	file := filepath.Join(w.t.TempDir(), "token")
	rig.Must(w.t, os.WriteFile(file, []byte(sim.Token+"\n"), 0o600))
	token, err := matrix.ReadToken(file)
	rig.Must(w.t, err)
	opts := matrix.Options{
		Homeserver: w.URL(), Token: token, Rooms: []string{home}, Users: []string{ann}, Past: w.kept(),
		Log:  func(line string) { w.with(func() { w.said = append(w.said, line) }) },
		Keep: func(p matrix.Progress) error { w.with(func() { w.past = p }); return nil }, Answered: week,
	}
	for _, c := range change {
		c(&opts)
	}
	s, err := matrix.New(opts)
	rig.Must(w.t, err)
	w.t.Cleanup(s.Close)
	return s
}

// begin opens a connection, and drops what there is.
func (w *world) begin(change ...func(*matrix.Options)) *matrix.System {
	w.t.Helper()
	s := w.open(change...)
	bot, err := s.Start(w.t.Context())
	rig.Must(w.t, err)
	rig.Same(w.t, "the bot", bridge.Bot{Name: "simulated_bot:localhost"}, bot)
	rig.Same(w.t, "what was written before", []string{}, w.next(s))
	return s
}

// next returns the texts of the next updates, which are done.
func (w *world) next(s *matrix.System) (texts []string) {
	w.t.Helper()
	texts = []string{}
	for _, u := range w.updates(s) {
		texts = append(texts, u.Text)
		u.Done()
	}
	return texts
}

func (w *world) updates(s *matrix.System) []bridge.Update {
	w.t.Helper()
	updates, err := s.Next(w.t.Context())
	rig.Must(w.t, err)
	return updates
}

func (w *world) with(do func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	do()
}

// kept is what was recorded last.
func (w *world) kept() (past matrix.Progress) {
	w.with(func() { past = w.past })
	return past
}

func (w *world) saying(part string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.ContainsFunc(w.said, func(line string) bool { return strings.Contains(line, part) })
}

func TestMessagesComeInOrder(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.Say(home, ann, "before the first start")
	s := w.begin()
	w.Say(home, ann, "one")
	w.Say(own, ann, "two")
	w.Say(home, bob, "three")
	got := w.updates(s)
	want := [][3]string{{home, ann, "one"}, {home, bob, "three"}, {own, ann, "two"}}
	for i, u := range got {
		rig.Same(t, "an update", want[i], [3]string{u.At.Chat, u.From.ID, u.Text})
	}
	rig.Same(t, "updates", 3, len(got))
	rig.Same(t, "who speaks", bridge.Person{ID: bob, Name: "Bob", Handle: "bob:localhost"}, got[1].From)
	rig.Same(t, "private chats", []string{"", ann}, []string{s.Owner(home), s.Owner(own)})
}

// What was not done when a process was killed comes again to the next one, also what came in the meantime and before it.
func TestWhatWasNotTakenComesAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.begin()
	w.Say(home, ann, "one")
	w.Say(home, ann, "two")
	first := w.updates(s)
	w.Say(home, ann, "three")
	second := w.updates(s)
	for _, u := range []bridge.Update{second[0], first[1], first[1]} {
		u.Done()
	}
	next := w.open()
	_, err := next.Start(t.Context())
	rig.Must(t, err)
	again := w.updates(next)
	rig.Same(t, "updates", 3, len(again))
	rig.Same(t, "the id", first[0].ID, again[0].ID)
	for _, u := range again {
		u.Done()
	}
	last := w.open()
	_, err = last.Start(t.Context())
	rig.Must(t, err)
	rig.Same(t, "what comes again", []string{}, w.next(last))
	rig.Same(t, "private chats, of which the sync says nothing new", ann, last.Owner(own))
}

func TestWhatASyncLeavesOutIsFetched(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.begin()
	want := []string{}
	for i := range 260 {
		text := strings.Repeat("x", 1+i)
		w.Say(home, ann, text)
		want = append(want, text)
	}
	w.Fail(sim.Failure{Method: "messages", Code: 503})
	s := w.open()
	_, err := s.Start(t.Context())
	rig.Must(t, err)
	if _, err := s.Next(t.Context()); err == nil {
		t.Fatal("the gap was not fetched, and nothing says so")
	}
	rig.Same(t, "all", want, w.next(s))
}

func TestASendThatIsRepeatedIsOneMessage(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.begin()
	to := bridge.Place{Chat: own}
	m := s.Format(bridge.Piece{Text: "**Yes**, it is.", Markdown: true})[0]
	w.Fail(sim.Failure{Method: "send", Done: true}) // the answer is lost
	if _, err := s.Send(t.Context(), to, "matrix:$1:answer:0", m); err == nil {
		t.Fatal("the answer was lost, and the send succeeded")
	}
	for _, s := range []*matrix.System{s, w.begin()} {
		_, err := s.Send(t.Context(), to, "matrix:$1:answer:0", m)
		rig.Must(t, err)
	}
	got := w.Bots(own)
	rig.Same(t, "messages", 1, len(got))
	rig.Same(t, "the message", [2]string{"**Yes**, it is.", "<p><strong>Yes</strong>, it is.</p>"}, [2]string{got[0].Text, got[0].HTML})

	rig.Same(t, "what an earlier process sent counts from", w.past.At, w.open().Traits().LastRun)
	for what, change := range map[string]func(*matrix.Options){
		"with another token":        func(o *matrix.Options) { o.Past.Session = "another" },
		"without what was recorded": func(o *matrix.Options) { o.Past = matrix.Progress{} },
	} {
		rig.Same(t, what+" it does not", true, w.open(change).Traits().LastRun.IsZero())
	}
}

func TestAnAnswerGrowsInItsMessage(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.begin()
	root := w.Say(own, ann, "Begin")
	to := bridge.Place{Chat: own, Topic: root.ID}
	at, err := s.Send(t.Context(), to, "x", bridge.Message{Text: "…", Quiet: true})
	rig.Must(t, err)
	for _, text := range []string{"A", "A B", "A", "Done."} {
		rig.Must(t, s.Edit(t.Context(), at, s.Format(bridge.Piece{Text: text, Markdown: true})[0]))
	}
	got := w.Bots(own)
	rig.Same(t, "messages", 1, len(got))
	rig.Same(t, "the message", [3]string{"Done.", "m.text", root.ID}, [3]string{got[0].Text, got[0].Kind, got[0].Thread})
	rig.Same(t, "what it said", []string{"…", "A", "A B", "A"}, got[0].Before)

	rig.Must(t, s.Delete(t.Context(), at))
	rig.Must(t, s.Delete(t.Context(), at))
	err = s.Edit(t.Context(), at, bridge.Message{Text: "late"})
	f, is := errors.AsType[*bridge.Failure](err)
	rig.Same(t, "an edit of a message that is gone fails for good", true, is && f.Final && fail.KindOf(err) == fail.Failed)
	rig.Same(t, "messages", 0, len(w.Bots(own)))
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.begin()
	send := func(s *matrix.System) bridge.Failure {
		_, err := s.Send(t.Context(), bridge.Place{Chat: own}, "x", bridge.Message{Text: "Hello"})
		f, _ := errors.AsType[*bridge.Failure](err)
		if f == nil {
			t.Fatalf("the error is %v", err)
		}
		return bridge.Failure{Final: f.Final, NotDone: f.NotDone, After: f.After.Round(time.Second)}
	}
	w.Fail(sim.Failure{Method: "send", Code: 429, RetryAfter: 1500})
	rig.Same(t, "too fast", bridge.Failure{NotDone: true, After: 2 * time.Second}, send(s))
	w = newWorld(t)
	s = w.begin()
	for _, test := range []struct {
		fails sim.Failure
		want  bridge.Failure
	}{
		{sim.Failure{Code: 403, Errcode: "M_FORBIDDEN"}, bridge.Failure{Final: true}},
		{sim.Failure{Code: 413, Errcode: "M_TOO_LARGE"}, bridge.Failure{Final: true}},
		{sim.Failure{Code: 413, HTML: true}, bridge.Failure{Final: true}},
		{sim.Failure{Code: 400, Errcode: "M_BAD_JSON"}, bridge.Failure{Final: true}},
		{sim.Failure{Code: 404, HTML: true}, bridge.Failure{}},
		{sim.Failure{Code: 502, HTML: true}, bridge.Failure{}},
		{sim.Failure{Code: 500, Errcode: "M_UNKNOWN"}, bridge.Failure{}},
		{sim.Failure{Code: 401, Errcode: "M_UNKNOWN_TOKEN"}, bridge.Failure{NotDone: true}},
	} {
		test.fails.Method = "send"
		w.Fail(test.fails)
		rig.Same(t, "a refusal", test.want, send(s))
	}
}

func TestAnExpiredTokenEndsTheBridge(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.begin()
	w.SetToken("another", "")
	_, err := s.Next(t.Context())
	rig.Same(t, "the kind", fail.Held, fail.KindOf(err))
	_, err = w.open().Start(t.Context())
	rig.Same(t, "the kind at the start", fail.Held, fail.KindOf(err))
	if strings.Contains(err.Error(), sim.Token) {
		t.Errorf("the error has the token: %v", err)
	}
	old, err := sim.Start(sim.Options{Versions: "v1.1 v1.10"})
	rig.Must(t, err)
	t.Cleanup(func() { rig.Must(t, old.Close()) })
	_, err = w.open(func(o *matrix.Options) { o.Homeserver = old.URL() }).Start(t.Context())
	rig.Same(t, "the kind for a homeserver that is too old", fail.Held, fail.KindOf(err))
}

func TestAnEncryptedRoomIsToldOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.Room("!strange:localhost", "Strange", eve, sim.Bot)
	w.Encrypt("!strange:localhost", eve)
	w.begin()
	w.Encrypt(own, ann)
	w.Say(own, ann, "secret")
	w.Say("!strange:localhost", eve, "secret")
	for range 2 {
		s := w.open()
		_, err := s.Start(t.Context())
		rig.Must(t, err)
		w.next(s)
		w.Say(own, ann, "secret too")
	}
	got := w.Sent(own)
	rig.Same(t, "messages", 1, len(got))
	rig.Same(t, "it is clear", true, strings.HasPrefix(got[0], "This room is encrypted, and I cannot read encrypted messages"))
	rig.Same(t, "the operator knows", true, w.saying("room "+own+" is encrypted"))
	rig.Same(t, "in a room that is not allowed", 0, len(w.Sent("!strange:localhost")))
}

func TestInvitations(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.begin()
	w.Room("!anns:localhost", "Ann's", ann)
	w.Say("!anns:localhost", ann, "long ago")
	w.Invite("!anns:localhost", ann)
	w.Say("!anns:localhost", ann, "Hello")
	w.Room("!eves:localhost", "Eve's", eve)
	w.Invite("!eves:localhost", eve)
	w.Fail(sim.Failure{Method: "join", Code: 502}) // the server of the room is down
	rig.Same(t, "before it has joined", []string{}, w.next(s))
	rig.Same(t, "what was written since the invitation", []string{"Hello"}, w.next(s))
	rig.Same(t, "the rooms", []string{"join", "invite"}, []string{w.Membership("!anns:localhost"), w.Membership("!eves:localhost")})
	rig.Same(t, "the operator knows", true, w.saying("user "+eve+" has invited the bot into room !eves:localhost: neither is allowed, so it does not join"))

	s.Close()     // as a process that has ended: it records nothing more
	for range 2 { // the homeserver does not show the invitation again
		s = w.open(func(o *matrix.Options) { o.Users = []string{ann, eve} })
		_, err := s.Start(t.Context())
		rig.Must(t, err)
		w.next(s)
		w.Say(own, ann, "Hello") // so that there is something to come, whether the bot has joined yet or not
		w.next(s)
		s.Close()
		rig.Same(t, "once its sender is allowed", "join", w.Membership("!eves:localhost"))
	}
	rig.Same(t, "invitations", 0, len(w.kept().Invited))
}

// What was written between the invitation and the joining is taken, however much it is, and nothing before it.
func TestABusyRoomIsTakenFromTheInvitationOn(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.begin()
	w.Room("!anns:localhost", "Ann's", ann)
	for range 200 {
		w.Say("!anns:localhost", ann, "long ago")
	}
	w.Invite("!anns:localhost", ann)
	want := []string{}
	for i := range 150 {
		want = append(want, strings.Repeat("x", i+1))
		w.Say("!anns:localhost", ann, want[i])
	}
	rig.Same(t, "before it has joined", []string{}, w.next(s))
	rig.Same(t, "all since the invitation", want, w.next(s))
}

// A room of an allowed user is private as long as no one else is in it, or invited. The words of a room that is not served
// do not leave the package.
func TestOnlyServedRoomsAreRead(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.Room("!eves:localhost", "Eve's", eve, sim.Bot)
	w.Room("!club:localhost", "Club", ann, bob, sim.Bot)
	s := w.begin()
	w.Say("!eves:localhost", eve, "secret")
	w.Say("!club:localhost", ann, "secret")
	for _, u := range w.updates(s) {
		rig.Same(t, "what is read", [3]string{}, [3]string{u.Text, u.Number, u.At.Topic})
		u.Done()
	}
	rig.Same(t, "private", ann, s.Owner(own))
	w.Join(own, eve)
	w.Say(own, ann, "Hello")
	rig.Same(t, "a room with a third person", []string{""}, w.next(s))
	rig.Same(t, "private", "", s.Owner(own))
	w.Leave(own, eve)
	w.Say(own, ann, "alone")
	rig.Same(t, "alone again", []string{"alone"}, w.next(s))
	w.Kick(own, ann)
	w.Say(home, ann, "still here")
	rig.Same(t, "elsewhere", []string{"still here"}, w.next(s))
	rig.Same(t, "a room that the bot is not in", "", s.Owner(own))
}

func TestFilesComeAndGo(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.begin()
	w.Send(own, ann, sim.Media{Kind: "m.image", Name: "cat.png", Type: "image/png", Content: []byte("cat")}, sim.Captioned("Who is that?"))
	w.Send(own, ann, sim.Media{Kind: "m.audio", Name: "voice.ogg", Type: "audio/ogg", Content: []byte("words"), Voice: true})
	w.Send(own, ann, sim.Media{Kind: "m.video", Name: "v.mp4", Type: "video/mp4", Content: []byte("v")})
	got := w.updates(s)
	rig.Same(t, "texts", [3]string{"Who is that?", "", ""}, [3]string{got[0].Text, got[1].Text, got[2].Text})
	rig.Same(t, "what no bot reads", [3]string{"", "", "a video"}, [3]string{got[0].Unreadable, got[1].Unreadable, got[2].Unreadable})
	rig.Same(t, "the picture", bridge.Attachment{Ref: got[0].File.Ref, Kind: "the picture", Name: "cat.png", Type: "image/png", Size: 3}, *got[0].File)
	rig.Same(t, "a voice", true, got[1].File.Voice)
	content, err := s.Fetch(t.Context(), *got[0].File)
	rig.Must(t, err)
	rig.Same(t, "the content", "cat", string(content))
	w.Fail(sim.Failure{Method: "download", Code: 404, Errcode: "M_NOT_FOUND"})
	_, err = s.Fetch(t.Context(), *got[0].File)
	f, is := errors.AsType[*bridge.Failure](err)
	rig.Same(t, "a file that is not given", true, is && f.Withheld)
	_, err = s.Fetch(t.Context(), bridge.Attachment{Ref: got[0].File.Ref, Size: 21 << 20})
	rig.Same(t, "a large file", fail.BadInput, fail.KindOf(err))

	file := bridge.Upload{Name: "answer.md", Caption: "The whole answer.", Content: strings.NewReader("# All")}
	w.Fail(sim.Failure{Method: "send", Done: true})
	if s.Upload(t.Context(), bridge.Place{Chat: own}, "y", file) == nil {
		t.Error("the answer was lost, and the upload succeeded")
	}
	rig.Must(t, s.Upload(t.Context(), bridge.Place{Chat: own}, "y", file))
	rig.Must(t, s.Upload(t.Context(), bridge.Place{Chat: own}, "z", bridge.Upload{Name: "empty", Content: strings.NewReader("")}))
	sent := w.Bots(own)
	rig.Same(t, "files", 2, len(sent))
	rig.Same(t, "the file", [4]string{"The whole answer.", "m.file", "answer.md", "# All"}, [4]string{sent[0].Text, sent[0].Kind, sent[0].Media.Name, string(sent[0].Media.Content)})
	err = s.Upload(t.Context(), bridge.Place{Chat: own}, "l", bridge.Upload{Name: "large", Content: strings.NewReader(strings.Repeat("x", sim.MaxUpload+1))})
	f, is = errors.AsType[*bridge.Failure](err)
	rig.Same(t, "a large upload fails for good", true, is && f.Final)
}

func TestWhatIsForTheBot(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.begin()
	at, err := s.Send(t.Context(), bridge.Place{Chat: home}, "q", bridge.Message{Text: "…"})
	rig.Must(t, err)
	rig.Must(t, s.Edit(t.Context(), at, bridge.Message{Text: "Milk or tea?"}))
	w.next(s)
	w.Say(home, ann, "Simulated: what now?", sim.NamingTheBot)
	w.Say(home, ann, "simulated_bot is slow")
	w.Say(home, ann, "Simulatedly, or not?", sim.NamingTheBot)
	w.Say(home, bob, "> <"+sim.Bot+"> Milk or tea?\n\nTea", sim.ReplyingTo(at.Message))
	first := w.Say(home, bob, "!stop\nnow")
	w.Say(home, bob, "!important", sim.InThread(first.ID))
	w.Edit(first, "stop it")
	w.Write(sim.Message{Room: home, From: ann, Text: "not mine", Edits: first.ID})
	got := w.updates(s)
	type seen struct {
		Text   string
		IsFor  bool
		Topic  string
		IsEdit bool
	}
	want := []seen{
		{"what now?", true, "", false}, {"simulated_bot is slow", false, "", false}, {"Simulatedly, or not?", true, "", false}, {"Tea", true, "", false}, {"/stop\nnow", false, "", false},
		{"!important", false, first.ID, false}, {"stop it", false, "", true},
	}
	rig.Same(t, "updates", len(want), len(got))
	for i, u := range got {
		rig.Same(t, "an update", want[i], seen{u.Text, u.ForBot, u.At.Topic, u.IsEdit})
	}
	rig.Same(t, "what is answered", bridge.Quoted{Of: bridge.Person{ID: sim.Bot, Name: "Simulated", Handle: "simulated_bot:localhost"}, Number: at.Message, Mine: true, Text: "Milk or tea?"}, *got[3].Answers)
	rig.Same(t, "what is edited", first.ID, got[6].Number)
	if got[5].Answers != nil {
		t.Errorf("a message of a thread answers %+v", got[5].Answers)
	}
	place, err := s.ParseKey("matrix:" + home + "/" + first.ID)
	rig.Must(t, err)
	rig.Same(t, "the place of the thread's key", got[5].At, place)
}
