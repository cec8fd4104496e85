package services

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"

	"nbs-worker/internal/chat/bridge"
	"nbs-worker/internal/chat/schedule"
	"nbs-worker/internal/chat/serve"
	"nbs-worker/internal/chat/serve/client"
	"nbs-worker/internal/chat/telegram"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/store"
	"nbs-worker/internal/store/bot"
	"nbs-worker/internal/store/conversations"
	"nbs-worker/internal/team/observe"
)

// setUp takes what nbs-worker serve setup has asked. Flags, and a token that was given, count before it. is reports
// whether a bridge is wanted.
func setUp(in *store.Store, o *ChatOptions, token telegram.Token, given bool) (_ telegram.Token, is bool, err error) {
	b, err := in.Bot().Get()
	if fail.KindOf(err) == fail.NotFound {
		if err := cmp.Or(o.CheckServed(o.Allowed), o.Answerers.Check(o.Allowed, o.Writers, o.Agents)); err != nil {
			return token, false, err
		}
		if given || len(o.Allowed) == 0 && len(o.Users) == 0 {
			return token, given, nil
		}
		token, err = telegram.ReadToken("") // its error says how to get one
		return token, false, err
	}
	if err == nil && !given {
		token, err = telegram.ReadToken(b.TokenFile)
	}
	if err != nil {
		return token, false, err
	}
	o.URL = cmp.Or(o.URL, b.URL)
	if len(o.Allowed) == 0 {
		o.Allowed = b.Chats
	}
	o.Settings = b.With(o.Settings, o.isGiven)
	if err := o.CheckServed(o.Allowed); err != nil {
		return token, false, err
	}
	o.Writers = b.Replaced(o.Writers)
	if !o.isGiven("agents") && !o.isGiven("group-commands") {
		o.Agents, o.Unasked = b.Reach(), b.Reach() == bot.ReachNone && b.Agents == ""
	}
	o.Answerers = b.Answerers.With(o.Answerers, o.isGiven)
	if err := o.Answerers.Check(o.Allowed, o.Writers, o.Agents); err != nil {
		return token, false, err
	}
	if o.Rights == (conversations.Rights{}) {
		o.Rights = b.Rights
	}
	return token, true, nil
}

func (o *ChatOptions) isGiven(flag string) bool { return o.Given != nil && o.Given(flag) }

// reach says where the commands work that reach agents and files, and how to turn them on if nothing was said about it.
func (o *ChatOptions) reach() string {
	if o.Unasked {
		return o.Agents.String() + "; to turn them on: " + setupCmd + " --agents private"
	}
	return o.Agents.String()
}

// Address returns a function that returns the chat that a chat is now: a group may have become another one.
func Address(ctx context.Context, in *store.Store) func(chat int64) int64 {
	moves, _ := (&serve.Chats{Notes: in.Deliveries()}).Moves(ctx) // serve reports a note that cannot be read
	return func(chat int64) int64 {
		at := slices.IndexFunc(moves, func(m bridge.Move) bool { return m.From == keyOf(chat) })
		if at < 0 {
			return chat
		}
		to, err := telegram.ParseKey(moves[at].To)
		if err != nil {
			return chat
		}
		now, err := strconv.ParseInt(to.Chat, 10, 64)
		if err != nil {
			return chat
		}
		return now
	}
}

func keyOf(chat int64) string { return fmt.Sprintf("telegram:%d", chat) }

// greet tells the operator where the server listens, what runs by itself, and how a bot can be set up.
func greet(p *observe.Project, o *ServeOptions, bridged bool) {
	o.Say("listens on %s", client.SocketPath(p.Store))
	if file, _, err := serve.AllowedSchedules(p.Store); err == nil {
		lasts, _ := p.Store.Schedules().Recall() // a server that runs them reports why it cannot
		next := ""
		if coming := schedule.Upcoming(file, lasts, p.Now(), 1); len(coming) > 0 {
			next = "; the next is " + coming[0].Entry.Name + ", at " + coming[0].Entry.Times.Local(coming[0].At)
		}
		o.Say("schedules: %d%s", len(file.Entries), next)
	}
	if !bridged {
		o.Say("no bot; to set one up: nbs-worker serve setup telegram")
	}
}
