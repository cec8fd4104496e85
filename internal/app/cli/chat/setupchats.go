package chat

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/app/services"
	"nbs-worker/internal/chat/conversation"
	"nbs-worker/internal/chat/serve/client"
	"nbs-worker/internal/chat/telegram"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
	"nbs-worker/internal/store/bot"
	"nbs-worker/internal/store/conversations"
)

// allow finds out which chats to serve: flags name them, they are kept, or someone writes to the bot.
func (w *setup) allow(ctx context.Context) error {
	if w.given("chat") || w.given("user") {
		return w.allowNamed(ctx)
	}
	address := services.Address(ctx, w.s.Project.Store)
	for _, chat := range w.bot.Chats {
		info, err := w.account.Chat(ctx, address(chat))
		switch {
		case fail.KindOf(err) == fail.NotFound:
			w.say("allowed: chat %d, which cannot be reached: %v", chat, err)
		case err != nil:
			return err
		default:
			w.say("allowed: %s", told(info))
		}
	}
	if w.dialog == nil {
		if len(w.bot.Chats) == 0 {
			return fail.Errorf(fail.BadInput, "no chat is allowed yet").Hint("in a terminal: nbs-worker serve setup telegram").
				Hint("or name them: nbs-worker serve setup telegram --chat NUMBER")
		}
		return nil
	}
	for len(w.bot.Chats) == 0 {
		if err := w.allowNext(ctx); err != nil {
			return err
		}
	}
	for {
		another, err := w.dialog.Yes(ctx, "Allow another chat? [y/N] ")
		if err != nil || !another {
			return err
		}
		if err := w.allowNext(ctx); err != nil {
			return err
		}
	}
}

// allowNamed takes the chats and users that flags name.
func (w *setup) allowNamed(ctx context.Context) error {
	for _, chat := range w.chats {
		info, err := w.account.Chat(ctx, chat)
		if fail.KindOf(err) == fail.NotFound {
			return fail.Errorf(fail.NotFound, "the bot has no access to chat %d: %w", chat, err).
				Hint("write to @%s from there first; a group has to have it as a member", w.bot.Username)
		}
		if err != nil {
			return err
		}
		w.say("allowed: %s", told(info))
	}
	if w.given("chat") {
		for _, chat := range w.bot.Chats {
			if !slices.Contains(w.chats, chat) {
				w.say("no longer allowed: chat %d", chat)
			}
		}
		w.bot.Chats = w.chats
	}
	if err := w.users.CheckServed(w.bot.Chats); err != nil {
		return err
	}
	w.bot.Writers = w.bot.Replaced(w.users)
	return w.keep()
}

// allowNext waits until someone writes to the bot whom the person allows.
func (w *setup) allowNext(ctx context.Context) error {
	if client.Runs(ctx, w.s.Project.Store) {
		return fail.Errorf(fail.Conflict, "nbs-worker serve runs here, and gets the messages to the bot").
			Hint("end it first; as a service: systemctl --user stop nbs-serve-*").
			Hint("or name all chats, with the one whose number serve prints: nbs-worker serve setup telegram --chat %sNUMBER", listOf(w.bot.Chats))
	}
	w.say("Now write to @%s, from the chat to allow; it waits for %s.", w.bot.Username, human.Brief(w.wait))
	w.say("In a group, add it as a member, and write: /start@%s", w.bot.Username)
	waiting, cancel := context.WithTimeout(ctx, w.wait)
	defer cancel()
	listener := w.account.Listen()
	address := services.Address(ctx, w.s.Project.Store)
	for {
		heard, err := listener.Next(waiting)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case errors.Is(err, context.DeadlineExceeded):
			return fail.Errorf(fail.TimedOut, "no message to @%s came within %s", w.bot.Username, w.wait).Hint("nbs-worker serve setup telegram")
		case fail.KindOf(err) == fail.Conflict:
			return fail.Errorf(fail.Conflict, "another program gets the messages to @%s: %w", w.bot.Username, err).
				Hint("end it: a bot works for one project").Hint("or make a bot for this one: write /newbot to @BotFather")
		case err != nil:
			return err
		case slices.ContainsFunc(w.bot.Chats, func(chat int64) bool { return heard.Chat.ID == chat || heard.Chat.ID == address(chat) }):
			listener.Keep(heard) // serve answers it
			continue
		case w.declined[heard.Chat.ID]:
			continue
		case heard.IsAnonymous():
			w.say("someone wrote in %s without their name: write again under your own", told(heard.Chat))
			continue
		}
		allowed, err := w.decide(ctx, heard)
		if err != nil {
			return err
		}
		if allowed {
			return w.keep()
		}
		w.declined[heard.Chat.ID] = true
		w.say("not allowed; it still waits for another chat, and C-c ends the setup")
	}
}

// decide asks the person about a chat and who wrote there.
func (w *setup) decide(ctx context.Context, heard telegram.Writer) (bool, error) {
	w.say("%s wrote in %s: %s", told(heard.User), told(heard.Chat), human.Quote(heard.Text))
	yes, err := w.dialog.Yes(ctx, "Allow this chat? [y/N] ")
	if err != nil || !yes {
		return false, err
	}
	w.bot.Chats = append(w.bot.Chats, heard.Chat.ID)
	if !heard.Chat.IsGroup() {
		if len(w.bot.Users) > 0 { // who may write in all chats: this user is not one of them
			w.bot.Writers = w.bot.Only(heard.Chat.ID)
		}
		return true, nil
	}
	all, err := w.dialog.Yes(ctx, "May everyone in this group write to Claude? [y/N: only "+human.OneLine(heard.User.Name)+"] ")
	switch {
	case err != nil:
		return false, err
	case !all:
		w.bot.Writers = w.bot.Only(heard.Chat.ID, heard.User.ID)
		w.say("only %s may write there; to add others: nbs-worker serve setup telegram --user %[2]d:%[3]d --user %[2]d:NUMBER", told(heard.User), heard.Chat.ID, heard.User.ID)
	case len(w.bot.Users) > 0:
		w.bot.Writers = w.bot.Only(heard.Chat.ID)
	}
	return true, nil
}

// listOf returns the beginning of a list of chats, as --chat takes it.
func listOf(chats []int64) string {
	return strings.Join(agent.Mapped(chats, func(n int64) string { return strconv.FormatInt(n, 10) + "," }), "")
}

// choices are what a person is offered for Claude to do unasked. Reading in the project needs no permission.
var choices = []struct{ words, mode, tools string }{
	{"talk, and read the files of this project", "default", ""},
	{"also search the web and read its pages", "default", "WebSearch,WebFetch"},
	{"also change the files of this project", "acceptEdits", "WebSearch,WebFetch"},
	{"everything that you can, without a question", string(agent.BypassPermissions), ""},
}

// permit finds out what Claude may do unasked: flags say it, it is kept, or the person chooses.
func (w *setup) permit(ctx context.Context) error {
	var err error
	switch {
	case w.given("permission-mode") || w.given("allowed-tools"):
		if w.bot.Rights, err = w.rights.parse(); err != nil {
			return err
		}
	case w.dialog == nil || w.bot.Permitted:
		return nil
	default:
		if err := w.choose(ctx); err != nil {
			return err
		}
	}
	w.bot.Permitted = true
	return w.keep()
}

func (w *setup) choose(ctx context.Context) error {
	w.say("What may Claude do for the people who write there?")
	for i, c := range choices {
		w.say("  %d  %s", i+1, c.words)
	}
	w.say("What your own Claude settings allow is allowed too.")
	w.say("other rules: --permission-mode and --allowed-tools (nbs-worker help permissions)")
	for {
		answer, err := w.dialog.Ask(ctx, "1 to "+strconv.Itoa(len(choices))+" [1] ")
		if err != nil {
			return err
		}
		n, err := strconv.Atoi(cmp.Or(answer, "1"))
		if err != nil || n < 1 || n > len(choices) {
			continue
		}
		chosen := choices[n-1]
		w.bot.Rights, err = conversations.ParseRights(chosen.mode, chosen.tools)
		return err
	}
}

// reach finds out whether the chats may reach agents and files: flags say it, it is kept, or the person is asked.
func (w *setup) reach(ctx context.Context) error {
	switch {
	case w.given("agents") || w.given("group-commands"):
		w.bot.Agents = w.reached
	case w.bot.Agents != "" || w.dialog == nil:
		return nil
	case w.bot.GroupCommands: // a flag of an earlier version
		w.bot.Agents = bot.ReachAll
	default:
		yes, err := w.dialog.Yes(ctx, "May they also get files of this project, and write to your agents: /file, /send, /resume? [y/N] ")
		if err != nil {
			return err
		}
		w.bot.Agents = bot.ReachNone
		if yes {
			w.bot.Agents = bot.ReachPrivate
			w.say("That is for private chats. For groups too: nbs-worker serve setup telegram --agents all")
		}
	}
	w.bot.GroupCommands = false
	return w.keep()
}

// summarize prints how the bot is set up, and what is left to do.
func (w *setup) summarize(ctx context.Context) error {
	_, err := fmt.Fprintf(w.f.Streams.Out, "@%s is set up: it serves %s; what Claude may do: %s\n", w.bot.Username, w.bot.Who(w.bot.Chats), w.bot.Rights)
	w.say("%s", w.bot.Reach())
	for _, line := range append(w.bot.Words(), w.bot.Answerers.Words()...) {
		w.say("%s", line)
	}
	if w.bot.Reach() != bot.ReachNone && len(w.bot.Answerers.Answers) == 0 {
		w.f.Note("to let a user answer what your agents ask: nbs-worker serve setup telegram --answers USER")
	}
	if distrust := conversation.New(w.s.Project).CheckFounding(); distrust != nil {
		w.f.SayNote(distrust.Error())
		for _, hint := range fail.HintsOf(distrust) {
			w.f.Hint("%s", hint)
		}
	}
	if client.Runs(ctx, w.s.Project.Store) {
		w.f.SayNote("nbs-worker serve runs here, and takes what has changed at its next start")
		return err
	}
	w.f.Note("to check everything: nbs-worker serve check")
	if w.written {
		w.f.Note("to try it in this terminal first: nbs-worker serve")
	} else {
		w.f.Note("to run it: nbs-worker serve")
	}
	return err
}
