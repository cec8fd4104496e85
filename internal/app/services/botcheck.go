package services

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"nbs-worker/internal/chat/conversation"
	"nbs-worker/internal/chat/serve"
	"nbs-worker/internal/chat/serve/client"
	"nbs-worker/internal/chat/telegram"
	"nbs-worker/internal/claude/turn"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
	"nbs-worker/internal/platform/export"
	"nbs-worker/internal/platform/macos"
	"nbs-worker/internal/store/bot"
	"nbs-worker/internal/team/doctor"
	"nbs-worker/internal/team/supervisor"
)

// BotCheck looks at everything that a bot needs, and writes to no chat.
type BotCheck struct {
	Supervisor *supervisor.Supervisor
	Service    string                                                  // name of the service of serve, without what its manager adds
	Doctor     doctor.Options                                          // of the checks that it takes from doctor
	Agreed     func(ctx context.Context, webhook string) (bool, error) // asks whether to delete a webhook; nil: it is not deleted

	bot     bot.Bot
	address func(chat int64) int64 // see [Address]
	account *telegram.Account
	me      telegram.Me
	found   doctor.Checkup
}

// doctors are the checks of doctor that concern a bot.
var doctors = []string{"claude.found", "claude.version", "start.login", "folder.disk", "folder.state"}

const setupCmd = "nbs-worker serve setup telegram"

// Run makes the checks. A check that needs the outcome of one that failed is left out.
func (c *BotCheck) Run(ctx context.Context) (doctor.Checkup, error) {
	if err := c.checkBot(ctx); err != nil {
		return c.found, err
	}
	c.checkFolder()
	c.checkSchedules()
	c.checkHeld()
	c.checkService(ctx)
	c.Doctor.Only = doctors
	rest, err := doctor.Examine(ctx, c.Supervisor, c.Doctor)
	c.found.Findings = append(c.found.Findings, rest.Findings...)
	return c.found, err
}

func (c *BotCheck) add(check string, level doctor.Level, what, why string, fix ...string) {
	c.found.Findings = append(c.found.Findings, doctor.Finding{Check: check, Level: level, What: what, Why: why, Fix: fix})
}

func (c *BotCheck) holds(check, what string, args ...any) {
	c.add(check, doctor.Holds, fmt.Sprintf(what, args...), "")
}

// checkBot looks at what was set up, and at what Telegram says about it. Errors: the context's.
func (c *BotCheck) checkBot(ctx context.Context) error {
	in := c.Supervisor.Project.Store
	var err error
	if c.bot, err = in.Bot().Get(); err != nil {
		c.add("bot.setup", doctor.Failure, err.Error(), "serve has no bot without it", fail.HintsOf(err)...)
		return nil
	}
	c.holds("bot.setup", "%s is yours: %s", human.Quote(in.Bot().Path()), c.bot.Rights)
	c.address = Address(ctx, in)
	c.checkSettings()
	token, err := telegram.ReadToken(c.bot.TokenFile)
	if err == nil {
		c.account, err = telegram.NewAccount(token, c.bot.URL)
	}
	if err == nil {
		defer c.account.Close()
		c.me, err = c.account.Me(ctx)
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		c.add("bot.token", doctor.Failure, err.Error(), "serve cannot connect to Telegram", append(fail.HintsOf(err), setupCmd)...)
		return nil
	}
	c.holds("bot.token", "Telegram accepts the token: @%s", c.me.Username)
	if err := c.checkWebhook(ctx); err != nil {
		return err
	}
	return c.checkChats(ctx)
}

// checkSettings shows how the chats are served, and looks for the programs that serve would run.
func (c *BotCheck) checkSettings() {
	for _, line := range c.bot.Words() {
		c.holds("bot.settings", "%s", line)
	}
	if reach := c.bot.Reach(); reach == bot.ReachNone && c.bot.Agents == "" {
		c.add("bot.agents", doctor.Note, reach.String(), "the setup was not asked", "to turn them on: "+setupCmd+" --agents private")
	} else {
		c.holds("bot.agents", "%s", reach)
	}
	c.checkAnswerers()
	c.checkProgram("--transcribe-cmd", c.bot.TranscribeCmd)
	c.checkProgram("--context-cmd", c.bot.ContextCmd)
}

// checkAnswerers shows who may answer what agents ask, and which chats are told what agents need.
func (c *BotCheck) checkAnswerers() {
	who := c.bot.Answerers
	switch err := who.Check(c.bot.Chats, c.bot.Writers, c.bot.Reach()); {
	case err != nil:
		c.add("bot.answers", doctor.Failure, err.Error(), "serve does not begin", fail.HintsOf(err)...)
		return
	case len(who.Answers) == 0 && c.bot.Reach() != bot.ReachNone:
		c.add("bot.answers", doctor.Note, "no user may answer what agents ask", "the setup was not told who may", setupCmd+" --answers USER")
	}
	for _, line := range who.Words() {
		c.holds("bot.answers", "%s", line)
	}
}

func (c *BotCheck) checkProgram(flag, path string) {
	if path == "" {
		return
	}
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() || info.Mode().Perm()&0o111 == 0 {
		c.add("bot.settings", doctor.Failure, human.Quote(path)+" is not a program", "serve cannot run it for a message", "name another program: "+setupCmd+" "+flag+" PROGRAM", "or none: "+setupCmd+" "+flag+` ""`)
	}
}

func (c *BotCheck) checkWebhook(ctx context.Context) error {
	url, err := c.account.Webhook(ctx)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		c.add("bot.webhook", doctor.Warning, err.Error(), "whether serve gets the messages is not known")
		return nil
	case url == "":
		c.holds("bot.webhook", "serve gets the bot's messages: it has no webhook")
		return nil
	}
	if c.Agreed != nil {
		agreed, err := c.Agreed(ctx, url)
		if err == nil && agreed {
			err = c.account.DeleteWebhook(ctx)
		}
		if err != nil {
			return err
		}
		if agreed {
			c.found.Done = append(c.found.Done, "the webhook "+human.Quote(url)+" is deleted")
			c.holds("bot.webhook", "serve gets the bot's messages: it has no webhook any more")
			return nil
		}
	}
	c.add("bot.webhook", doctor.Failure, "Telegram sends the bot's messages to "+human.Quote(url), "serve gets none of them", setupCmd+" --delete-webhook")
	return nil
}

// checkChats looks at each chat that is allowed, and at whether the bot reads all that is written in groups.
func (c *BotCheck) checkChats(ctx context.Context) error {
	if len(c.bot.Chats) == 0 {
		c.add("bot.chats", doctor.Failure, "no chat is allowed yet", "serve answers in none", setupCmd)
		return nil
	}
	grouped := false
	isServed := func(chat int64) bool { return slices.Contains(c.bot.Chats, chat) }
	for _, chat := range append(slices.Clone(c.bot.Chats), slices.DeleteFunc(slices.Clone(c.bot.Answerers.Told()), isServed)...) {
		now := c.address(chat)
		info, err := c.account.Chat(ctx, now)
		status := ""
		if err == nil && info.IsGroup() {
			grouped = true
			status, err = c.account.Standing(ctx, now, c.me.ID)
		}
		name := human.OneLine(info.String())
		if now != chat {
			name += fmt.Sprintf(", which was chat %d", chat)
		}
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case fail.KindOf(err) == fail.NotFound:
			c.add("bot.chats", doctor.Warning, fmt.Sprintf("chat %d cannot be reached: %s", chat, err), "the bot was blocked there, or is not a member",
				"write to @"+c.me.Username+" from there, or set up other chats: "+setupCmd)
		case err != nil:
			c.add("bot.chats", doctor.Warning, fmt.Sprintf("chat %d: %s", chat, err), "whether it can be reached is not known")
		case status == "left" || status == "kicked":
			c.add("bot.chats", doctor.Warning, "@"+c.me.Username+" is not a member of "+name, "it gets no message from there", "add it to the group again, in Telegram")
		case info.IsGroup() && len(c.bot.In(chat)) > 0:
			c.holds("bot.chats", "it reaches %s; only these users may write there: %s", name, bot.Numbers(c.bot.In(chat)))
		default:
			c.holds("bot.chats", "it reaches %s", name)
		}
	}
	switch gets := "in groups, @" + c.me.Username + " gets only commands, answers to it, and messages that name it"; {
	case grouped && !c.me.ReadsGroups && c.bot.GroupAll:
		c.add("bot.groups", doctor.Warning, gets+", and is to take all", "privacy mode is on", "write /setprivacy to @BotFather, then add the bot to the group again")
	case grouped && !c.me.ReadsGroups:
		c.add("bot.groups", doctor.Note, gets, "privacy mode is on",
			"to have serve take all: write /setprivacy to @BotFather, add the bot to the group again, and run "+setupCmd+" --group-all")
	case grouped:
		c.holds("bot.groups", "Telegram passes on all that is written in groups: privacy mode is off")
	}
	return nil
}

// checkFolder looks at whether Claude trusts the folder of the chats.
func (c *BotCheck) checkFolder() {
	if err := conversation.New(c.Supervisor.Project).CheckFounding(); err != nil {
		c.add("bot.folder", doctor.Failure, err.Error(), "serve does not begin, and no chat is answered", fail.HintsOf(err)...)
		return
	}
	c.holds("bot.folder", "Claude trusts the folder %s", human.Quote(c.Supervisor.Project.Store.Project()))
}

// isOf reports whether a key is that of a chat, or of a topic there.
func isOf(key string, chat int64) bool {
	of := keyOf(chat)
	return key == of || strings.HasPrefix(key, of+"/")
}

// checkSchedules looks at what serve would run by itself.
func (c *BotCheck) checkSchedules() {
	file, _, err := serve.AllowedSchedules(c.Supervisor.Project.Store)
	switch {
	case fail.KindOf(err) == fail.NotFound:
		c.holds("bot.schedules", "there are no schedules")
		return
	case fail.KindOf(err) == fail.Held:
		c.add("bot.schedules", doctor.Warning, err.Error(), "none of the schedules runs", append(fail.HintsOf(err), "nbs-worker allow --schedules")...)
		return
	case err != nil:
		c.add("bot.schedules", doctor.Failure, err.Error(), "none of the schedules runs", fail.HintsOf(err)...)
		return
	}
	lost := false
	for _, e := range file.Entries {
		if key := e.DeliverTo; key != "" && !slices.ContainsFunc(c.bot.Chats, func(chat int64) bool { return isOf(key, chat) || isOf(key, c.address(chat)) }) {
			lost = true
			c.add("bot.schedules", doctor.Warning, "schedule "+e.Name+" is delivered to "+human.Quote(key)+", which is not allowed", "its answers reach no chat", setupCmd)
		}
	}
	if !lost {
		c.holds("bot.schedules", "%s can run", human.Count(len(file.Entries), "schedule"))
	}
}

// checkHeld looks at the messages that wait for a cause to end, or for a person.
func (c *BotCheck) checkHeld() {
	all := c.Supervisor.Project.Store.Conversations()
	keys, err := all.WithWork() // conversation list reports unreadable ones
	holds := err == nil
	for _, key := range keys {
		state, unread := all.Of(key).State()
		held := state.Held()
		if unread != nil || held == nil || !held.NeedsPerson() {
			continue
		}
		holds = false
		fix := []string{"to try it now: nbs-worker conversation retry " + human.ShellWord(string(key))}
		if held.Class == string(turn.Authentication) {
			fix = append([]string{"start claude once by hand, and type /login: claude"}, fix...)
		}
		c.add("bot.held", doctor.Warning, "a message of "+string(key)+" is held: "+human.OneLine(held.Reason), "it is kept, and those behind it wait too", fix...)
	}
	if holds {
		c.holds("bot.held", "no message is held")
	}
}

// checkService looks at whether serve runs, and whether the system runs it.
func (c *BotCheck) checkService(ctx context.Context) {
	if c.Supervisor.Project.Machine.IsMac() {
		c.checkLaunchAgent(ctx)
	} else {
		c.checkUnit(ctx)
	}
	in := c.Supervisor.Project.Store
	if !client.Runs(ctx, in) {
		c.add("service.serve", doctor.Note, "nbs-worker serve does not run here", "no chat is answered", "nbs-worker serve")
		return
	}
	c.holds("service.serve", "nbs-worker serve runs, and listens on %s", client.SocketPath(in))
}

// checkLaunchAgent looks at whether launchd runs serve.
func (c *BotCheck) checkLaunchAgent(ctx context.Context) {
	const alone = "serve runs only as long as you run it"
	service, err := macos.ServiceOf(ctx, c.Service)
	switch {
	case err != nil:
		c.add("service.unit", doctor.Note, "launchd does not answer: "+human.OneLine(err.Error()), alone)
	case !service.Loaded:
		c.add("service.unit", doctor.Note, c.Service+" is not loaded", alone, "nbs-worker export launchd --dir ~/Library/LaunchAgents")
	case service.PID == 0:
		c.add("service.unit", doctor.Warning, c.Service+" does not run", "no chat is answered", "to see why, and where its log is: launchctl print gui/$(id -u)/"+c.Service)
	default:
		c.holds("service.unit", "%s runs", c.Service)
	}
}

// checkUnit looks at whether systemd runs serve.
func (c *BotCheck) checkUnit(ctx context.Context) {
	unit := c.Service + export.Service
	state, err := export.StateOf(ctx, unit)
	start := "systemctl --user enable --now " + unit
	switch {
	case err != nil:
		c.add("service.unit", doctor.Note, "systemd runs no services of this user here: "+err.Error(), "serve runs only as long as you run it")
	case !state.Installed:
		c.add("service.unit", doctor.Note, unit+" is not installed", "serve runs only as long as you run it", setupCmd+" --systemd")
	case state.Active != "active":
		c.add("service.unit", doctor.Warning, unit+" is "+state.Active, "no chat is answered", "to see why: journalctl --user -u "+unit, start)
	case !state.Enabled:
		c.add("service.unit", doctor.Warning, unit+" is not enabled", "it is not started after a reboot", start)
	default:
		c.holds("service.unit", "%s is active", unit)
		c.checkLinger()
	}
}

// checkLinger looks at whether the services of the user run without a login.
func (c *BotCheck) checkLinger() {
	const marks = "/var/lib/systemd/linger" // a file for each user
	if _, err := os.Stat(filepath.Join(marks, os.Getenv("USER"))); os.Getenv("USER") == "" || err == nil {
		return
	}
	c.add("service.boot", doctor.Note, "systemd ends your services at your logout, and starts them at your login", "no chat is answered in between", "loginctl enable-linger")
}
