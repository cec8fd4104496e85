package chat

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	"nbs-worker/internal/app/cli/ui"
	"nbs-worker/internal/chat/telegram"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
	"nbs-worker/internal/store/bot"
	"nbs-worker/internal/team/supervisor"
)

type setupOptions struct {
	tokenFile     string
	chats         []int64
	deleteWebhook bool
	unit, agent   bool // of systemd, of launchd
	wait          time.Duration
	url           string

	chatFlags
	who whoFlags
}

func newServeSetupCmd(f *ui.Factory) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "setup telegram",
		Short: "Set up a bot",
		Long: ui.WithCodes(`Sets up a bot, which nbs-worker serve then serves without a flag: nbs-worker help serve
setup telegram.`, fail.BadInput),
		Example: `  nbs-worker serve setup telegram`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return fail.Errorf(fail.BadInput, "serve setup: which chat system? There is telegram").Hint("nbs-worker serve setup telegram")
			}
			return ui.ErrUnknownCommand(cmd, args[0])
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newSetupTelegramCmd(f))
	return cmd
}

func newSetupTelegramCmd(f *ui.Factory) *cobra.Command {
	o := &setupOptions{}
	cmd := &cobra.Command{
		Use:   "telegram",
		Short: "Set up a Telegram bot, step by step",
		Long: ui.WithCodes(`Asks for what nbs-worker serve needs to be a Telegram bot of this project, and checks each
answer with Telegram:

  the token     of a bot that @BotFather made; typed without an echo, and
                kept in your state folder, where only you can read it
  a webhook     if another program set one, serve would get no message
  the chats     it waits until someone writes to the bot, shows who that
                is, and asks whether to allow them
  permissions   what Claude may do unasked when a chat writes to it:
                nbs-worker help permissions
  agents        whether the chats may get files of the project, and write
                to your agents: /file, /agents, /send, /resume
  answers       if the chats may write to your agents: who of them is told
                what the agents need, and may answer what they ask; no one
                by default (--answers USER, --needs CHAT)
  the service   a unit for systemd, or a LaunchAgent on a Mac, if you
                want one

Details:

What was answered is kept at once, in .nbs/telegram.json with your seal. Call it again to go on
after an interruption, or to allow another chat. Flags change what was answered, and are kept
too: --daily-limit 2 bounds what a chat may cost, --daily-limit 0 removes the bound. On a
terminal it asks only for what no flag says; without one, it takes the flags and what is kept.

To find out whether all is well: nbs-worker serve check.`,
			fail.Failed, fail.NotFound, fail.TimedOut, fail.BadInput, fail.Conflict, fail.Unfit, fail.Held, fail.Interrupted),
		Annotations: ui.Usual("token-file systemd"),
		Example: `  nbs-worker serve setup telegram
  nbs-worker serve setup telegram --token-file - --chat 1234 <TOKEN
  nbs-worker serve setup telegram --daily-limit 2 --enrich
  nbs-worker serve setup telegram --systemd`,
		Args: ui.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return ui.Failed(runSetup(cmd.Context(), f, o), "serve setup telegram")
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&o.tokenFile, "token-file", "", "read the bot's token from this file (-: from stdin)")
	flags.Int64SliceVar(&o.chats, "chat", nil, "number of a chat to serve; repeatable, and in place of those that are kept")
	o.who.bind(cmd, "")
	o.bind(cmd, "")
	flags.BoolVar(&o.deleteWebhook, "delete-webhook", false, "delete a webhook that another program has set")
	flags.BoolVar(&o.unit, "systemd", false, "write the unit of serve for your own systemd")
	flags.BoolVar(&o.agent, "launchd", false, "write the LaunchAgent of serve for macOS")
	cmd.MarkFlagsMutuallyExclusive("systemd", "launchd")
	flags.DurationVar(&o.wait, "wait", 5*time.Minute, "how long to wait for a message to the bot")
	flags.StringVar(&o.url, "telegram-url", "", "address of the Bot API, for tests")
	_ = flags.MarkHidden("telegram-url")
	_ = cmd.MarkFlagFilename("token-file")
	return cmd
}

// setup is one call of the wizard. What a step finds out is kept when the step ends.
type setup struct {
	*setupOptions

	f        *ui.Factory
	s        *supervisor.Supervisor
	dialog   *ui.Dialog // nil: no person can be asked
	bot      bot.Bot
	users    bot.Writers // that flags name
	reached  bot.Reach   // as flags say
	account  *telegram.Account
	declined map[int64]bool // chats
	written  bool           // the service
}

func runSetup(ctx context.Context, f *ui.Factory, o *setupOptions) error {
	s, err := f.NewProject()
	if err != nil {
		return err
	}
	w := &setup{setupOptions: o, f: f, s: s, declined: map[int64]bool{}}
	if f.OnTerminal() {
		w.dialog = f.Dialog()
	}
	if w.bot, err = s.Project.Store.Bot().Get(); err != nil {
		switch fail.KindOf(err) {
		case fail.NotFound:
		case fail.Held, fail.Failed: // it came with the project, or is damaged: the setup replaces it
			f.SayNote(err.Error() + "; it is replaced")
		default:
			return err
		}
	}
	if o.url != "" {
		w.bot.URL = o.url
	}
	flags, err := o.parse(f, s)
	if err != nil {
		return err
	}
	w.bot.Settings = w.bot.With(flags, o.given)
	if w.users, w.reached, err = o.who.parse(); err != nil {
		return err
	}
	for _, step := range []func(context.Context) error{w.takeToken, w.clearWebhook, w.allow, w.permit, w.reach, w.answerers, w.writeService} {
		if err := step(ctx); err != nil {
			if errors.Is(err, context.Canceled) {
				err = fail.Errorf(fail.Interrupted, "interrupted; what was answered is kept").Hint("to go on: nbs-worker serve setup telegram")
			}
			return err
		}
	}
	w.account.Close()
	return w.summarize(ctx)
}

// say tells the person what was found out.
func (w *setup) say(format string, args ...any) { w.f.Line(fmt.Sprintf(format, args...)) }

// told returns a name that Telegram gave, on one line.
func told(name fmt.Stringer) string { return human.OneLine(name.String()) }

// keep records what is known, durably.
func (w *setup) keep() error { return w.s.Project.Store.Bot().Put(w.bot) }

// takeToken finds the token: a flag names it, it is kept, it is in the environment, or the person types it.
func (w *setup) takeToken(ctx context.Context) error {
	switch {
	case w.tokenFile == "-":
		text, err := ui.ReadText("the token from", "-", w.f.Input())
		if err != nil {
			return err
		}
		token, err := telegram.ParseToken(text)
		if err != nil {
			return err
		}
		return w.try(ctx, token)
	case w.tokenFile != "" || w.bot.TokenFile == "" && os.Getenv(telegram.TokenVariable) != "":
		token, err := telegram.ReadToken(w.tokenFile)
		if err != nil {
			return err
		}
		return w.try(ctx, token)
	case w.bot.TokenFile != "":
		token, err := telegram.ReadToken(w.bot.TokenFile)
		if err == nil {
			err = w.try(ctx, token)
		}
		if err == nil || w.dialog == nil || fail.KindOf(err) == fail.Failed {
			return err
		}
		w.say("the token that is kept does not work any more: %v", err)
	}
	return w.askForToken(ctx)
}

// askForToken asks until Telegram accepts a token.
func (w *setup) askForToken(ctx context.Context) error {
	if w.dialog == nil {
		return fail.Errorf(fail.NotFound, "there is no token").Hint("nbs-worker serve setup telegram --token-file FILE").
			Hint("or, in a terminal: nbs-worker serve setup telegram")
	}
	if w.bot.Username == "" {
		w.say("A bot is made in Telegram: write /newbot to @BotFather, and answer what it asks.")
		w.say("It then shows a token, such as 1234567890:AAE...")
	} else {
		w.say("@BotFather shows the token of @%s, and makes a new one: /mybots, then API Token.", w.bot.Username)
	}
	const most = 5
	for range most {
		text, err := w.dialog.Secret(ctx, "Token (it is not shown): ")
		if err != nil {
			return err
		}
		token, err := telegram.ParseToken(text)
		if err == nil {
			err = w.try(ctx, token)
		}
		if err == nil || fail.KindOf(err) != fail.BadInput && fail.KindOf(err) != fail.Held {
			return err
		}
		w.say("%v", err)
	}
	return fail.Errorf(fail.BadInput, "%s were refused", human.Count(most, "token")).Hint("@BotFather shows the token: /mybots, then API Token")
}

// try asks Telegram whose token it is, and keeps it. Errors: Held when Telegram does not accept it.
func (w *setup) try(ctx context.Context, token telegram.Token) error {
	account, err := telegram.NewAccount(token, w.bot.URL)
	if err != nil {
		return err
	}
	me, err := account.Me(ctx)
	if err != nil {
		account.Close()
		return err
	}
	path, err := w.s.Project.Store.Bot().KeepToken(me.Username, token.Kept())
	if err != nil {
		return err
	}
	w.account, w.bot.Username, w.bot.TokenFile = account, me.Username, path
	w.say("bot: @%s, %s", me.Username, human.Quote(me.Name))
	w.say("token: kept in %s", path)
	w.sayPrivacy(me)
	return w.keep()
}

// sayPrivacy says which messages of groups the bot gets.
func (w *setup) sayPrivacy(me telegram.Me) {
	switch {
	case w.bot.GroupAll && !me.ReadsGroups:
		w.say("in groups it is to take all messages, and gets only commands, answers to it, and messages that name it: its privacy mode is on")
		w.say("to turn that off: write /setprivacy to @BotFather, then add the bot to each group again")
	case !me.ReadsGroups:
		w.say("in groups it gets only commands, answers to it, and messages that name it")
		w.say("to have it take all: write /setprivacy to @BotFather, and run nbs-worker serve setup telegram --group-all")
	}
}

// clearWebhook deletes a webhook, if the person agrees: serve would get no message.
func (w *setup) clearWebhook(ctx context.Context) error {
	url, err := w.account.Webhook(ctx)
	if err != nil || url == "" {
		return err
	}
	agreed := w.deleteWebhook
	if !agreed && w.dialog != nil {
		w.say("another program has Telegram send the bot's messages to %s; serve would get none", human.Quote(url))
		if agreed, err = w.dialog.Yes(ctx, "Delete this webhook? [y/N] "); err != nil {
			return err
		}
	}
	if !agreed {
		return fail.Errorf(fail.Held, "the bot has a webhook, so serve would get no message: %s", human.Quote(url)).
			Hint("to delete it: nbs-worker serve setup telegram --delete-webhook")
	}
	if err := w.account.DeleteWebhook(ctx); err != nil {
		return err
	}
	w.say("webhook: deleted")
	return nil
}
