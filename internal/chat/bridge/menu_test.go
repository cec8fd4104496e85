package bridge_test

import (
	"context"
	"strings"
	"testing"

	"nbs-worker/internal/chat/bridge"
	"nbs-worker/internal/sim/rig"
)

// Each method of Menu answers with its arguments.

func (h *house) Sessions(context.Context, string) (string, []Choice, error) {
	return "Now: today.", []Choice{{"1. Holiday", "/sessions 4f0c2a53-0000-4000-8000-000000000000"}}, nil
}

func (h *house) Back(_ context.Context, key, id, named string) (string, error) {
	return key + " is back in " + named + " by " + id, nil
}

func (h *house) Rename(_ context.Context, key, name string) (string, error) {
	return key + " is " + name, nil
}

func (h *house) ChooseModel(_ context.Context, _, name string) (string, error) {
	return "model " + name, nil
}
func (h *house) Usage(context.Context, string) (string, error) { return "$0.10", nil }

// A user lists the sessions, presses the button of one, and is back in it.
func TestSessionsAreChosenByAButton(t *testing.T) {
	t.Parallel()
	server := simulator(t)
	run(t, server, &house{})
	for n, test := range []struct{ text, want string }{
		{"/back", "telegram:7 is back in  by telegram:1"},
		{"/sessions old one", "telegram:7 is back in old one by telegram:2"},
		{"/name Holiday in May", "telegram:7 is Holiday in May"},
		{"/name", "Write: /name NAME"},
		{"/model opus", "model opus"},
		{"/usage", "$0.10"},
		{"/sessions", "Now: today."},
	} {
		server.Say(7, test.text)
		sent := told(t, server, 7, n+1)
		rig.Check(t, sent[n] == test.want, "%q was answered with %q, want %q", test.text, sent[n], test.want)
	}
	bots := server.Bots(7)
	server.Press(7, 7, bots[len(bots)-1].Number, "/sessions 4f0c2a53-0000-4000-8000-000000000000")
	want(t, told(t, server, 7, 8)[7:], "telegram:7 is back in 4f0c2a53-0000-4000-8000-000000000000 by telegram:8")
	rig.Must(t, server.AwaitCalls(rig.Patient(t), "answerCallbackQuery", 1))
}

// A button is the command of the user who presses it: one who is not allowed gets nothing.
func TestAButtonDoesNotServeOthers(t *testing.T) {
	t.Parallel()
	server := simulator(t)
	server.Supergroup(-7, "Home")
	run(t, server, &house{}, func(o *Options) { o.Allowed, o.Users = []int64{-7}, []int64{1} })
	server.SayIn(-7, 1, "/sessions")
	told(t, server, -7, 1)
	bots := server.Bots(-7)
	server.Press(2, -7, bots[0].Number, "/sessions 4f0c2a53-0000-4000-8000-000000000000")
	server.SayIn(-7, 1, "/usage")
	want(t, told(t, server, -7, 2)[1:], "$0.10")
	rig.Equal(t, server.Calls("answerCallbackQuery"), 0, "confirmed presses")
}

// Telegram's apps show the commands, and in groups only those that work there.
func TestTheMenuListsTheCommands(t *testing.T) {
	t.Parallel()
	server := simulator(t)
	run(t, server, &house{})
	rig.Must(t, server.AwaitCalls(rig.Patient(t), "setMyCommands", 2))
	names := func(scope string) (all []string) {
		for _, c := range server.Commands(scope) {
			all = append(all, c.Command)
		}
		return all
	}
	rig.Same(t, "menu", []string{"stop", "new", "back", "sessions", "name", "status", "model", "usage", "file", "agents", "send", "resume", "help"}, names("all_private_chats"))
	rig.Same(t, "menu of groups", []string{"stop", "new", "back", "sessions", "name", "status", "model", "usage", "help"}, names("all_group_chats"))
}

// Words behind a command that takes none are not lost silently.
func TestWordsBehindACommandAreNotDroppedSilently(t *testing.T) {
	t.Parallel()
	server := simulator(t)
	run(t, server, &house{})
	for n, text := range []string{"/new What is the weather?", "/stop and look", "/new now"} {
		server.Say(7, text)
		sent := told(t, server, 7, n+1)[n]
		rig.Check(t, strings.Contains(sent, bridge.NotPassed) == (text != "/new now"), "%q is answered with %q", text, sent)
	}
}
