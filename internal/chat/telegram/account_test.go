package telegram

import (
	"strings"
	"testing"

	"nbs-worker/internal/fail"
	"nbs-worker/internal/sim/rig"
	sim "nbs-worker/internal/sim/telegram"
)

func account(t *testing.T, token string, server *sim.Server) *Account {
	t.Helper()
	a, err := NewAccount(Token{token}, server.URL())
	rig.Must(t, err)
	t.Cleanup(a.Close)
	return a
}

func simulator(t *testing.T) *sim.Server {
	t.Helper()
	server, err := sim.Start(sim.Options{})
	rig.Must(t, err)
	t.Cleanup(func() {
		rig.Must(t, server.Close())
		faults := server.Faults()
		rig.Check(t, len(faults) == 0, "the Bot API does not know what the account asks for: %q", faults)
	})
	return server
}

// What is heard and kept is left for the bridge; what is heard and not kept is gone.
func TestWhoWritesIsHeardOnceAndWhatIsKeptStays(t *testing.T) {
	t.Parallel()
	server := simulator(t)
	server.Know(sim.User{ID: 1, FirstName: "Ann", Username: "ann"})
	server.Forum(-100, "Home")
	a := account(t, sim.Token, server)
	l := a.Listen()
	server.Say(666, "let me in")
	server.Say(1, "hello")
	server.SayAs(1, -100, "/start@"+sim.Name)
	var heard []string
	for range 3 {
		w, err := l.Next(rig.Patient(t))
		rig.Must(t, err)
		heard = append(heard, w.User.String()+" in "+w.Chat.String()+": "+w.Text)
		if w.User.ID == 1 {
			l.Keep(w)
		}
	}
	server.Say(2, "me too")
	w, err := l.Next(rig.Patient(t)) // although the kept ones are given again
	rig.Must(t, err)
	got := strings.Join(append(heard, w.Text), "\n")
	rig.Same(t, "what was heard", `User (user 666) in User, chat 666: let me in
Ann (@ann, user 1) in Ann, chat 1: hello
Ann (@ann, user 1) in the group Home with topics, chat -100: /start@simulated_bot
me too`, got)
	left := nextOf(t, server)
	rig.Check(t, !strings.Contains(left, "let me in") && strings.Contains(left, "hello") && strings.Contains(left, "/start"), "Telegram keeps %s", left)
}

// nextOf is what a bridge is given that begins now.
func nextOf(t *testing.T, server *sim.Server) string {
	t.Helper()
	s, _ := system(t, server.URL())
	updates, err := s.getUpdates(t.Context(), 0)
	rig.Must(t, err)
	var text strings.Builder
	for _, u := range updates {
		text.Write(u)
	}
	return text.String()
}

func TestWhatTelegramSaysOfABot(t *testing.T) {
	t.Parallel()
	server := simulator(t)
	server.Know(sim.User{ID: 1, FirstName: "Ann"})
	server.Group(-5, "Old")
	a := account(t, sim.Token, server)
	me, err := a.Me(t.Context())
	rig.Check(t, err == nil && me.Username == sim.Name && me.ReadsGroups, "%+v, %v", me, err)
	info, err := a.Chat(t.Context(), -5)
	rig.Check(t, err == nil && info.IsGroup() && info.String() == "the group Old, chat -5", "%s, %v", info, err)
	_, err = a.Chat(t.Context(), -6)
	rig.Check(t, fail.KindOf(err) == fail.NotFound && strings.Contains(err.Error(), "chat not found"), "%v", err)
	status, err := a.Standing(t.Context(), -5, me.ID)
	rig.Check(t, err == nil && status == "member", "%s, %v", status, err)

	server.SetWebhook("https://example.org")
	at, err := a.Webhook(t.Context())
	rig.Check(t, err == nil && at == "https://example.org", "%s, %v", at, err)
	_, err = a.Listen().Next(t.Context())
	rig.Check(t, fail.KindOf(err) == fail.Conflict, "%v", err)
	rig.Must(t, a.DeleteWebhook(t.Context()))
	at, err = a.Webhook(t.Context())
	rig.Check(t, err == nil && at == "", "%s, %v", at, err)

	_, err = account(t, "1000:wrong", server).Me(t.Context())
	rig.Check(t, fail.KindOf(err) == fail.Held && !strings.Contains(err.Error(), "wrong"), "%v", err)
	server.Fail(sim.Failure{Method: "getMe"})
	_, err = a.Me(t.Context())
	rig.Check(t, fail.KindOf(err) == fail.Failed && !strings.Contains(err.Error(), "simulated-token"), "%v", err)
	if faults := server.Faults(); len(faults) > 0 {
		t.Errorf("faults = %q", faults)
	}
}

// A group that moved is looked up by who sets a bot up, who has no chats yet.
func TestAnAccountSurvivesAGroupThatMoved(t *testing.T) {
	t.Parallel()
	server := simulator(t)
	server.Fail(sim.Failure{Method: "getChat", Code: 400, MigrateTo: -1009})
	account, err := NewAccount(Token{sim.Token}, server.URL())
	rig.Must(t, err)
	_, err = account.Chat(t.Context(), -5)
	rig.Check(t, err != nil, "a chat that moved is described")
}
