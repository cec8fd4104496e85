package services

import (
	"cmp"
	"time"

	"nbs-worker/internal/chat/schedule"
	"nbs-worker/internal/chat/serve"
	"nbs-worker/internal/chat/serve/client"
	"nbs-worker/internal/chat/telegram"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/store"
	"nbs-worker/internal/store/conversations"
	"nbs-worker/internal/team/observe"
)

// setUp takes what nbs-worker serve setup has asked. Flags, and a token that was given, count before it. is reports
// whether a bridge is wanted.
func setUp(in *store.Store, o *ChatOptions, token telegram.Token, given bool) (_ telegram.Token, is bool, err error) {
	b, err := in.Bot().Get()
	if fail.KindOf(err) == fail.NotFound {
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
	if o.Given != nil {
		o.Settings = b.Settings.With(o.Settings, o.Given)
	} else {
		o.Settings = b.Settings
	}
	o.InGroups = o.InGroups || b.GroupCommands
	if len(o.Users) == 0 {
		o.Users = b.Users
	}
	if o.Rights == (conversations.Rights{}) {
		o.Rights = b.Rights
	}
	return token, true, nil
}

// greet tells the operator where the server listens, what runs by itself, and how a bot can be set up.
func greet(p *observe.Project, o *ServeOptions, bridged bool) {
	o.Say("listens on %s", client.SocketPath(p.Store))
	if file, _, err := serve.AllowedSchedules(p.Store); err == nil {
		lasts, _ := p.Store.Schedules().Recall() // a server that runs them reports why it cannot
		next := ""
		if coming := schedule.Upcoming(file, lasts, p.Now(), 1); len(coming) > 0 {
			next = "; the next is " + coming[0].Entry.Name + ", at " + coming[0].At.Local().Format(time.DateTime)
		}
		o.Say("schedules: %d%s", len(file.Entries), next)
	}
	if !bridged {
		o.Say("no bot; to set one up: nbs-worker serve setup telegram")
	}
}
