package bridge_test

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"nbs-worker/internal/chat/bridge"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/sim/rig"
	sim "nbs-worker/internal/sim/telegram"
)

func simulator(t *testing.T) *sim.Server {
	t.Helper()
	server, err := sim.Start(sim.Options{})
	rig.Must(t, err)
	t.Cleanup(func() {
		rig.Must(t, server.Close())
		faults := server.Faults()
		rig.Check(t, len(faults) == 0, "the Bot API does not know what the bridge asks for: %q", faults)
	})
	return server
}

// logged is what the operator was told.
type logged struct {
	mu    sync.Mutex
	lines []string
}

func (l *logged) add(line string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lines = append(l.lines, line)
}

func (l *logged) text() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Join(l.lines, "\n")
}

// run runs a bridge for chats 7 and 8 until the test ends; and checks that its log keeps the token.
func run(t *testing.T, server *sim.Server, h *house, change ...func(*Options)) (*Bridge, *logged) {
	t.Helper()
	if h.path == "" {
		h.path = filepath.Join(t.TempDir(), "house")
	}
	b, log, _ := runUntil(t, server, h, change...)
	return b, log
}

// runUntil is run with a stop before that, which returns when the bridge has ended.
func runUntil(t *testing.T, server *sim.Server, h *house, change ...func(*Options)) (*Bridge, *logged, func()) {
	t.Helper()
	log := &logged{}
	opts := Options{
		Token: sim.Token, Allowed: []int64{7, 8}, Chats: h, Deliveries: h, Menu: h, Team: h, URL: server.URL(),
		Poll: time.Second, Settle: 100 * time.Millisecond, Pause: time.Millisecond, Log: log.add, Location: time.UTC,
	}
	for _, change := range change {
		change(&opts)
	}
	b, err := newBridge(opts)
	rig.Must(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- b.Run(ctx) }()
	stop := sync.OnceFunc(func() {
		cancel()
		err := <-ended
		rig.Check(t, err == nil, "the bridge ended with %v", err)
		rig.Check(t, !strings.Contains(log.text(), "simulated-token"), "the token is in the log: %s", log.text())
		t.Log(log.text())
	})
	t.Cleanup(stop)
	return b, log, stop
}

// told waits for so many messages to a chat.
func told(t *testing.T, server *sim.Server, chat int64, count int) []string {
	t.Helper()
	sent, err := server.Await(rig.Patient(t), chat, count)
	if err != nil {
		t.Fatalf("%v; sent %q", err, sent)
	}
	return sent
}

// toldAnswers waits for so many messages to a chat that are no words on its queue.
func toldAnswers(t *testing.T, server *sim.Server, chat int64, count int) []string {
	t.Helper()
	for n := count; ; n++ {
		var answers []string
		for _, text := range told(t, server, chat, n) {
			if !strings.HasPrefix(text, "Queued: ") {
				answers = append(answers, text)
			}
		}
		if len(answers) >= count {
			return answers
		}
	}
}

func want(t *testing.T, sent []string, wanted ...string) {
	t.Helper()
	rig.Check(t, slices.Equal(sent, wanted), "the chat was told\n%q, want\n%q", sent, wanted)
}

func TestTheDialogueOfTheSeeds(t *testing.T) {
	t.Parallel()
	server := simulator(t)
	var remembered string
	h := &house{}
	h.reply = func(ctx context.Context, text string, _ Answer) (Answer, error) {
		conversation, err := h.Status(ctx, "conversation")
		switch {
		case err != nil:
			return Answer{}, err
		case text == "Remember 42.":
			remembered = conversation
			return Answer{Text: "OK.", Continuity: "new"}, server.AwaitCalls(ctx, "sendChatAction", 1) // it is shown while a turn runs
		case remembered == conversation:
			return Answer{Text: "42.", Continuity: "resumed"}, nil
		}
		return Answer{Text: "I don't have any number in mind.", Continuity: "new"}, nil
	}
	// All at once: each has its place, the reset as well.
	for _, text := range []string{"Remember 42.", "What number?", "/new", "What number?"} {
		server.Say(7, text)
	}
	run(t, server, h)
	sent := toldAnswers(t, server, 7, 4)
	rig.Must(t, server.AwaitAcknowledged(rig.Patient(t)))
	want(t, sent, "OK.", "42.", "Starting fresh; the old conversation is kept as old-1.", "I don't have any number in mind.")
	for _, m := range server.Chat(7) {
		rig.Check(t, m.ParseMode == "", "%q was sent with parse mode %s, which can fail", m.Text, m.ParseMode)
	}
}

func TestMessagesWhileBusyQueueInOrderAndSaySo(t *testing.T) {
	t.Parallel()
	server := simulator(t)
	go1 := make(chan struct{})
	h := &house{reply: func(ctx context.Context, text string, _ Answer) (Answer, error) {
		select {
		case <-go1:
			return Answer{Text: "to " + text}, nil
		case <-ctx.Done():
			return Answer{}, ctx.Err()
		}
	}}
	run(t, server, h)
	for _, text := range []string{"one", "two", "three"} {
		server.Say(7, text)
	}
	want(t, told(t, server, 7, 2), "Queued: 1 message before this one. It is answered after that.", "Queued: 2 messages before this one. It is answered after that.")
	server.Say(8, "/status") // one chat does not keep another waiting
	want(t, told(t, server, 8, 1), "telegram:8: 0 resets")
	close(go1)
	want(t, told(t, server, 7, 5)[2:], "to one", "to two", "to three")
}

func TestAFailureIsToldWithWhatIsNext(t *testing.T) {
	t.Parallel()
	server := simulator(t)
	at := time.Date(2099, 1, 2, 14, 5, 0, 0, time.UTC)
	h := &house{reply: func(_ context.Context, text string, told Answer) (Answer, error) {
		held := map[string]Answer{
			"overloaded": {Class: "overloaded", Held: true, RetryAt: at},
			"login":      {Class: "authentication", Error: "Not logged in · Please run /login", Held: true, RetryAt: at, Mends: true},
			"killed":     {Class: "killed", Held: true},
			"known":      {Class: "authentication", Held: true, RetryAt: at, Mends: true, Known: true},
		}[text]
		if held.Held && !told.Held {
			return held, nil
		}
		switch text {
		case "lost":
			return Answer{Text: "Hello.", Continuity: "reset", Reason: "its transcript is empty", PreviousSessionID: "old"}, nil
		case "daily":
			return Answer{Text: "Good morning.", Continuity: "reset", Notice: "This is a new conversation, as every day at 04:00."}, nil
		case "long":
			return Answer{Class: "too_long"}, nil
		case "secret":
			return Answer{Class: "blocked", Error: "no secrets"}, nil
		case "odd":
			return Answer{Class: "of the future", Error: "boom " + sim.Token}, nil
		}
		return Answer{Text: "at last: " + text}, nil
	}}
	run(t, server, h)
	for _, text := range []string{"overloaded", "login", "killed", "known", "lost", "daily", "long", "secret", "odd"} {
		server.Say(7, text)
	}
	want(t, toldAnswers(t, server, 7, 12),
		"Claude is overloaded; your message is kept and will be tried again at 14:05 on 2 January.", "at last: overloaded",
		"Claude is not logged in on its machine; your message is kept. It is tried again now and then, and whenever you write.\nOr send /new for a new conversation without it.", "at last: login",
		"Claude was ended in the middle of the turn; your message is kept, and waits for a person at the machine: nbs-worker conversation retry telegram:7\nOr send /new for a new conversation.", "at last: killed",
		"at last: known",
		"Your session could not be resumed (its transcript is empty); this is a new one. The old one was old.\n\nHello.",
		"This is a new conversation, as every day at 04:00.\n\nGood morning.",
		"The conversation is too long for Claude. Your message was not answered. Send /new for a new conversation; the old one is kept.",
		"A hook at the machine refused your message (no secrets). Your message was not answered. Say it in other words.",
		"Claude failed (boom 1000:***). Your message was not answered: send it again.")
}

func TestAHeldMessageDoesNotHoldUpAReset(t *testing.T) {
	t.Parallel()
	server := simulator(t)
	h := &house{reply: func(ctx context.Context, _ string, told Answer) (Answer, error) {
		if told.Held {
			<-ctx.Done()
		}
		return Answer{Class: "limit", Held: true}, ctx.Err()
	}}
	run(t, server, h)
	server.Say(7, "hello")
	told(t, server, 7, 1)
	server.Say(7, "/restart")
	want(t, told(t, server, 7, 2)[1:], "Starting fresh; the old conversation is kept as old-1.")
}

func TestCommands(t *testing.T) {
	t.Parallel()
	server := simulator(t)
	run(t, server, &house{})
	for n, test := range []struct{ text, want string }{
		{"/start", bridge.Help(false)}, // it resets nothing
		{"/Restart", "Starting fresh; the old conversation is kept as old-1."},
		{"/status", "telegram:7: 1 reset"},
		{"/agents@" + sim.Name, "theologian: idle"},
		{"/send theologian  two\nlines ", "sent to theologian as telegram:5: two\nlines"},
		{"/send theologian", "Write: /send HANDLE TEXT"},
		{"/resume bob", "/resume did not work: resume bob: no such agent.\nhint: nbs-worker list"},
		{"/help", bridge.Help(false)},
		{"/dialy now", "I do not know /dialy, so your message was not passed on.\n\n" + bridge.Help(false)},
		{"/etc/hosts is odd", "You said: /etc/hosts is odd"}, // for Claude
	} {
		server.Say(7, test.text)
		sent := told(t, server, 7, n+1)
		rig.Check(t, sent[n] == test.want, "%q was answered with %q, want %q", test.text, sent[n], test.want)
	}
	server.Say(7, "/new@another_bot")
	server.Sticker(7, "x")
	sent := told(t, server, 7, 11)
	rig.Check(t, sent[10] == "I cannot read a sticker. Your message was not passed on.", "a sticker was answered with %q", sent[10])
}

func TestOnlyAllowedChatsAreServed(t *testing.T) {
	t.Parallel()
	server := simulator(t)
	_, log := run(t, server, &house{})
	server.Say(666, "/agents")
	server.Say(666, "let me in")
	server.Say(7, "hello")
	want(t, told(t, server, 7, 1), "You said: hello")
	want(t, server.Sent(666))
	n := strings.Count(log.text(), "chat 666 is not allowed: what it writes is dropped")
	rig.Check(t, n == 1, "a stranger was noted %d times in %q", n, log.text())
}

// In a group, only the users that are named are heard, and no command reaches an agent unless that is switched on.
func TestGroups(t *testing.T) {
	t.Parallel()
	server := simulator(t)
	_, log := run(t, server, &house{}, func(o *Options) { o.Allowed, o.Users, o.AllInGroups = []int64{-7}, []int64{1}, true })
	server.SayIn(-7, 2, "/new")
	server.SayIn(-7, 1, "/send theologian do it")
	server.SayIn(-7, 1, "/help")
	server.SayIn(-7, 1, "/weather") // of another bot
	server.SayIn(-7, 1, "hello")
	want(t, told(t, server, -7, 3), "/send is off in groups. The owner of the bot can switch it on: nbs-worker serve setup telegram --agents all", bridge.Help(true), "You said: hello")
	rig.Check(t, strings.Contains(log.text(), "user 2 is not allowed in chat -7"), "log = %q", log.text())
	server = simulator(t)
	run(t, server, &house{}, func(o *Options) { o.Allowed, o.InGroups = []int64{-7}, true })
	server.SayIn(-7, 2, "/agents")
	want(t, told(t, server, -7, 1), "theologian: idle")
}

// Until the operator turns them on, the commands that reach agents or files do nothing, and no menu or help shows them.
func TestWhatReachesAgentsIsOff(t *testing.T) {
	t.Parallel()
	server := simulator(t)
	run(t, server, &house{}, func(o *Options) { o.NotInPrivate = true })
	rig.Must(t, server.AwaitCalls(rig.Patient(t), "setMyCommands", 2))
	for _, command := range server.Commands("all_private_chats") {
		rig.Check(t, !slices.Contains([]string{"agents", "send", "resume", "file"}, command.Command), "the menu shows /%s", command.Command)
	}
	says := []string{"/agents", "/send theologian do it", "/resume theologian", "/file report.pdf"}
	for n, text := range says {
		server.Say(7, text)
		name, _, _ := strings.Cut(text, " ")
		rig.Equal(t, told(t, server, 7, n+1)[n], name+" is off here. The owner of the bot can switch it on: nbs-worker serve setup telegram --agents private", "%s", text)
	}
	server.Say(7, "/help")
	help := told(t, server, 7, len(says)+1)[len(says)]
	rig.Check(t, strings.Contains(help, "/new") && !strings.Contains(help, "/send") && !strings.Contains(help, "/file"), "the help is %s", help)
}

func TestAnEmptyListServesNobodyAndSaysSo(t *testing.T) {
	t.Parallel()
	server := simulator(t)
	log := &logged{}
	b, err := newBridge(Options{Token: sim.Token, URL: server.URL(), Deliveries: &house{path: filepath.Join(t.TempDir(), "x")}, Log: log.add, Poll: time.Second})
	rig.Must(t, err)
	ctx, cancel := context.WithCancel(rig.Patient(t))
	defer cancel()
	ended := make(chan error, 1)
	go func() { ended <- b.Run(ctx) }()
	server.Say(1, "hello")
	rig.Must(t, server.AwaitAcknowledged(ctx))
	cancel()
	rig.Must(t, <-ended)
	rig.Check(t, strings.Contains(log.text(), "no chat is allowed yet") && strings.Contains(log.text(), "chat 1 is not allowed"), "log = %q", log.text())
	want(t, server.Sent(1))
}

func TestAFullQueueIsTold(t *testing.T) {
	t.Parallel()
	server := simulator(t)
	failures := 0
	h := &house{refuse: func(text string) error {
		switch {
		case text == "full":
			return fail.Errorf(fail.Conflict, "100 messages of telegram:7 are open")
		case failures < 1:
			failures++
			return errors.New("no space left on device")
		}
		return nil
	}}
	run(t, server, h)
	server.Say(7, "full")
	server.Say(7, "disk")
	want(t, told(t, server, 7, 3),
		"Your message was not taken: 100 messages of telegram:7 are open. Send it again later.",
		"Your message could not be kept yet: no space left on device. It is tried again until it can.",
		"You said: disk")
}

func TestWhatIsBeingSentWhenTheBridgeIsStoppedIsFinished(t *testing.T) {
	t.Parallel()
	server := simulator(t)
	h := &house{path: filepath.Join(t.TempDir(), "house")}
	_, _, stop := runUntil(t, server, h)
	release := server.Hold("sendMessage")
	server.Say(7, "one")
	rig.Must(t, server.AwaitCalls(t.Context(), "sendMessage", 1))
	stopped := make(chan struct{})
	go func() { stop(); close(stopped) }()
	release()
	<-stopped
	server.Say(8, "two")
	run(t, server, h)
	want(t, told(t, server, 8, 1), "You said: two")
	want(t, server.Sent(7), "You said: one")
}

func TestALongAnswerArrivesWhole(t *testing.T) {
	t.Parallel()
	server := simulator(t)
	long := strings.Repeat("word ", 2000)
	run(t, server, &house{reply: func(context.Context, string, Answer) (Answer, error) { return Answer{Text: long}, nil }})
	server.Say(7, "hello")
	sent := told(t, server, 7, 3)
	got := strings.Fields(strings.Join(sent, " "))
	rig.Check(t, len(got) == 2000, "%d words in %d messages", len(got), len(sent))
}
