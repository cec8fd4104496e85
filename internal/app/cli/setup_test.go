package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"nbs-worker/internal/app/cli/ui"
	"nbs-worker/internal/app/wire"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/sim/rig"
	"nbs-worker/internal/sim/telegram"
	"nbs-worker/internal/store"
	"nbs-worker/internal/store/bot"
	"nbs-worker/internal/store/conversations"
	"nbs-worker/internal/store/deliveries"
	"nbs-worker/internal/store/trust"
)

// newBot is a project and a bot of the simulated Telegram, to whose family it belongs.
func newBot(t *testing.T) (project string, server *telegram.Server) {
	t.Helper()
	server, err := telegram.Start(telegram.Options{})
	rig.Must(t, err)
	t.Cleanup(func() { rig.Must(t, server.Close()) })
	server.Know(telegram.User{ID: 1, FirstName: "Ann", Username: "ann"})
	server.Know(telegram.User{ID: 2, FirstName: "Bob"})
	server.Group(-5, "Home")
	return newProject(t), server
}

// setUp runs the wizard; typed is what a person types, "" for a script.
func setUp(t *testing.T, project string, server *telegram.Server, typed string, args ...string) ran {
	t.Helper()
	streams := ui.Streams{In: strings.NewReader(typed), InTTY: typed != "", ErrTTY: typed != ""}
	return runOn(streams, append([]string{"--root", project, "serve", "setup", "telegram", "--telegram-url", server.URL(), "--wait", "20s"}, args...)...)
}

// botOf is what serve would read.
func botOf(t *testing.T, project string) (bot.Bot, error) {
	t.Helper()
	s, err := store.Open(project)
	rig.Must(t, err)
	defer s.Close()
	home, err := trust.HomeOf(os.Environ())
	rig.Must(t, err)
	s.Use(trust.NewKeeper(home))
	return s.Bot().Get()
}

func TestSetupAsksStepByStepAndServeReadsTheAnswers(t *testing.T) {
	t.Parallel()
	project, server := newBot(t)
	server.SetWebhook("https://example.org/hook")
	server.Say(666, "let me in")
	server.Say(1, "hello")
	server.SayAs(2, -5, "/start@"+telegram.Name)
	said := lines("not a token", "1000:wrong", telegram.Token, // the token
		"y",      // the webhook
		"n", "y", // the stranger, Ann
		"y", "y", "n", // another: the group, of which only Bob may write
		"n",      // no other
		"5", "2", // what Claude may do
		"y", // agents and files
		"y") // who may answer
	r := setUp(t, project, server, said).want(t, 0,
		"write /newbot to @BotFather", "this is not a token", "Telegram does not accept the token",
		"bot: @simulated_bot, \"Simulated\"", "token: kept in ", "https://example.org/hook", "webhook: deleted",
		`User (user 666) wrote in User, chat 666: "let me in"`, "not allowed; it still waits for another chat", `Ann (@ann, user 1) wrote in Ann, chat 1: "hello"`,
		"Bob (user 2) wrote in the group Home, chat -5", "May everyone in this group write to Claude?",
		"What your own Claude settings allow is allowed too.", "only Bob (user 2) may write there; to add others: nbs-worker serve setup telegram --user -5:2 --user -5:NUMBER",
		"May they also get files of this project, and write to your agents: /file, /send, /resume?", "For groups too: nbs-worker serve setup telegram --agents all",
		"/file, /agents, /send and /resume work in private chats",
		"May Ann, chat 1, answer what your agents ask, and be told what they need? [y/N]",
		"what agents ask may be answered by user 1", "what agents need is told in chat 1",
		"note: Claude does not trust the folder ", "start claude there once, and answer yes: cd ")
	rig.Check(t, r.out == "@simulated_bot is set up: it serves everyone in the chat 1; the users 2 in the chat -5; what Claude may do: default; allowed tools WebSearch, WebFetch\n", "it printed %q", r.out)
	rig.Check(t, !strings.Contains(r.out+r.err, "simulated-token"), "it shows the token: %s", r.err)
	b, err := botOf(t, project)
	rig.Must(t, err)
	info, err := os.Stat(b.TokenFile)
	rig.Check(t, err == nil && info.Mode().Perm() == 0o600 && !strings.HasPrefix(b.TokenFile, project), "the token is in %s, %v", b.TokenFile, err)
	rig.Check(t, len(server.Faults()) == 0, "faults = %q", server.Faults())

	// The messages of those who are allowed wait for serve; the stranger's is gone.
	again := setUp(t, project, server, "n\n").want(t, 0, "allowed: Ann, chat 1", "allowed: the group Home, chat -5")
	rig.Check(t, !strings.Contains(again.err, "Token (") && again.out == r.out, "it asks again: %s", again.err)
}

// The setup asks once about each user who is alone with the bot, and only if the chats reach agents. The check shows who
// may answer, and finds a chat that is told and cannot be reached.
func TestSetupAsksWhoMayAnswer(t *testing.T) {
	t.Parallel()
	const question = ", answer what your agents ask, and be told what they need?"
	project, server := newBot(t)
	r := setUp(t, project, server, lines(telegram.Token, "", "n"), "--chat", "1,-5").want(t, 0)
	rig.Check(t, !strings.Contains(r.err, question), "it asks although no chat reaches agents: %s", r.err)
	rig.Check(t, checkBot(t, project)["bot.answers"] == "", "it finds %s", checkBot(t, project)["bot.answers"])

	r = setUp(t, project, server, lines("n", "n"), "--agents", "private").want(t, 0, "May Ann, chat 1"+question, "to let a user answer what your agents ask: nbs-worker --root "+project+" serve setup telegram --answers USER")
	rig.Check(t, !strings.Contains(r.err, "chat -5"+question), "it asks about a group: %s", r.err)
	rig.Check(t, strings.HasPrefix(checkBot(t, project)["bot.answers"], "note: no user may answer what agents ask"), "it finds %s", checkBot(t, project)["bot.answers"])

	server.Say(2, "hello")
	r = setUp(t, project, server, lines("y", "y", "n", "y")).want(t, 0, "May Bob, chat 2"+question, "what agents ask may be answered by user 2", "what agents need is told in chat 2")
	rig.Check(t, !strings.Contains(r.err, "Ann, chat 1"+question), "it asks again: %s", r.err)
	found := checkBot(t, project)["bot.answers"]
	rig.Check(t, strings.Contains(found, "ok: what agents ask may be answered by user 2\n") && strings.Contains(found, "ok: what agents need is told in chat 2\n"), "it finds %s", found)

	setUp(t, project, server, "", "--needs", "-5").want(t, fail.BadInput, "the group -5 is to be told what agents need, and may not know of the agents", "--agents all")
	setUp(t, project, server, "", "--answers", "7", "--user", "7").want(t, 0, "what agents need is told in chat 7")
	server.Block(7, true)
	rig.Check(t, strings.Contains(checkBot(t, project)["bot.chats"], "warning: chat 7 cannot be reached"), "it finds %s", checkBot(t, project)["bot.chats"])
}

// Who may write in one group says nothing about another group or a chat with the bot, and one who does not show who they
// are is none of its users.
func TestSetupKeepsTheUsersOfEachGroup(t *testing.T) {
	t.Parallel()
	project, server := newBot(t)
	server.Group(-6, "Work")
	server.SayAs(1, -5, "/start@"+telegram.Name)
	server.Service(-6, 1087968824, map[string]any{"sender_chat": map[string]any{"title": "Work"}, "text": "/start"})
	server.SayAs(2, -6, "/start@"+telegram.Name)
	r := setUp(t, project, server, lines(telegram.Token, "y", "y", "y", "y", "n", "n", "1", "")).want(t, 0,
		"someone wrote in the group Work, chat -6 without their name: write again under your own")
	rig.Check(t, strings.Contains(r.out, "it serves everyone in the chat -5; the users 2 in the chat -6; what"), "it printed %q", r.out)
	rig.Check(t, !strings.Contains(r.err, "1087968824"), "it says %s", r.err)
	found := checkBot(t, project)
	rig.Check(t, strings.Contains(found["bot.chats"], "ok: it reaches the group Work, chat -6; only these users may write there: 2\n"), "it finds %s", found["bot.chats"])
	rig.Check(t, strings.Contains(found["bot.agents"], "ok: /file, /agents, /send and /resume are off"), "it finds %s", found["bot.agents"])

	for flag, want := range map[string]string{
		"1:2": "names no group", "-5:": "names no user", "-5:-6": "names no user", "x": "names no user", "-5:1087968824": "user 1087968824 is no person", "-7:1": "users are named for chat -7, which is not served",
	} {
		setUp(t, project, server, "", "--user", flag).want(t, fail.BadInput, want)
	}
	setUp(t, project, server, "", "--agents", "some").want(t, fail.BadInput, "none, private or all")
	r = setUp(t, project, server, "", "--user", "-5:1,-5:3", "--user", "-6:everyone", "--agents", "all").want(t, 0, "/file, /agents, /send and /resume work in all chats")
	rig.Check(t, strings.Contains(r.out, "it serves the users 1, 3 in the chat -5; everyone in the chat -6; what"), "it printed %q", r.out)
	r = setUp(t, project, server, "", "--user", "everyone", "--agents", "none").want(t, 0, "/file, /agents, /send and /resume are off")
	rig.Check(t, strings.Contains(r.out, "it serves everyone in the chats -5, -6; what"), "it printed %q", r.out)
}

// What an earlier version has kept for all chats holds for them until someone says otherwise; the next chat has its own.
func TestSetupGoesOnWithUsersOfAllChats(t *testing.T) {
	t.Parallel()
	project, server := newBot(t)
	server.Group(-6, "Work")
	setUp(t, project, server, lines(telegram.Token, "", ""), "--chat", "-5", "--user", "1").want(t, 0)
	server.SayAs(2, -6, "/start@"+telegram.Name)
	server.Say(2, "hello")
	r := setUp(t, project, server, lines("y", "y", "y", "y", "y", "n")).want(t, 0)
	rig.Check(t, strings.Contains(r.out, "it serves the users 1 in the chat -5; everyone in the chats -6, 2; what"), "it printed %q", r.out)
}

func lines(all ...string) string { return strings.Join(all, "\n") + "\n" }

func TestSetupWithoutATerminalTakesFlags(t *testing.T) {
	t.Parallel()
	project, server := newBot(t)
	setUp(t, project, server, "").want(t, fail.NotFound, "there is no token", "--token-file FILE")
	token := filepath.Join(t.TempDir(), "token")
	rig.Must(t, os.WriteFile(token, []byte(telegram.Token), 0o600))
	setUp(t, project, server, "", "--token-file", token).want(t, fail.BadInput, "no chat is allowed yet", "--chat NUMBER")
	b, err := botOf(t, project)
	rig.Check(t, err == nil && b.Username == telegram.Name, "what was found out is not kept: %+v, %v", b, err)
	setUp(t, project, server, "", "--chat", "-77").want(t, fail.NotFound, "the bot has no access to chat -77", "chat not found")
	server.SetWebhook("https://example.org/hook")
	setUp(t, project, server, "", "--chat", "1").want(t, fail.Held, "the bot has a webhook", "--delete-webhook")
	r := setUp(t, project, server, "", "--chat", "1,-5", "--user", "1", "--delete-webhook", "--systemd", "--permission-mode", "plan").want(t, 0, "webhook: deleted", "unit: ")
	rig.Check(t, r.out == "@simulated_bot is set up: it serves the users 1 in the chats 1, -5; what Claude may do: plan\n", "it printed %q", r.out)
	_, path, _ := strings.Cut(r.err, "unit: ")
	path, _, _ = strings.Cut(path, "\n")
	unit, err := os.ReadFile(path)
	rig.Check(t, err == nil && strings.Contains(string(unit), " --root "+project) && strings.Contains(string(unit), " serve\n"), "the unit is %v, %s", err, unit)

	server.Fail(telegram.Failure{Method: "getMe", Code: 502, HTML: true})
	setUp(t, project, server, "").want(t, fail.Failed, "reach Telegram")
	setUp(t, project, server, "").want(t, 0)
	setUp(t, project, server, "", "--chat", "1,7").want(t, 0, "no longer allowed: chat -5\n")
}

// The token of a bot that is set up was revoked: the person needs its new token, not a new bot.
func TestSetupAsksForTheNewTokenOfTheSameBot(t *testing.T) {
	t.Parallel()
	project, server := newBot(t)
	setUp(t, project, server, lines(telegram.Token, "", ""), "--chat", "1").want(t, 0)
	server.Fail(telegram.Failure{Method: "getMe", Code: 401})
	r := setUp(t, project, server, lines(telegram.Token, "n")).want(t, 0, "does not work any more", "@BotFather shows the token of @simulated_bot")
	rig.Check(t, !strings.Contains(r.err, "/newbot"), "it asks for a new bot: %s", r.err)
}

func TestSetupGivesUpWaiting(t *testing.T) {
	t.Parallel()
	project, server := newBot(t)
	server.Fail(telegram.Failure{Method: "getUpdates", Code: 409})
	setUp(t, project, server, telegram.Token+"\n").want(t, fail.Conflict, "another program gets the messages to @simulated_bot", "a bot works for one project")
	setUp(t, project, server, telegram.Token+"\n", "--wait", "50ms").want(t, fail.TimedOut, "no message to @simulated_bot came within 50ms")
	rig.Must(t, os.WriteFile(filepath.Join(project, ".nbs/telegram.json"), []byte(`{"bot":{"username":"evil"}}`), 0o600))
	server.Say(1, "hello")
	setUp(t, project, server, lines(telegram.Token, "y", "n", "", "")).want(t, 0, "was not written here by a command of this user", "it is replaced")
}

func TestServeWithAChatAndNoTokenSaysHowToGetOne(t *testing.T) {
	t.Parallel()
	run("--root", newProject(t), "serve", "--telegram-chat", "1").want(t, fail.NotFound, "variable NBS_TELEGRAM_TOKEN is empty", "nbs-worker --root", "serve setup telegram")
}

func TestServeRefusesABotThatCameWithTheProject(t *testing.T) {
	t.Parallel()
	project, server := newBot(t)
	setUp(t, project, server, lines(telegram.Token, "", ""), "--chat", "1").want(t, 0)
	path := filepath.Join(project, ".nbs/telegram.json")
	text, err := os.ReadFile(path)
	rig.Must(t, err)
	clone := newProject(t)
	rig.Must(t, os.WriteFile(filepath.Join(clone, ".nbs/telegram.json"), text, 0o600))
	run("--root", clone, "serve").want(t, fail.Held, "telegram.json was not written here by a command of this user", "to set the bot up again: nbs-worker --root "+clone+" serve setup telegram")
}

// checkBot runs serve check, and returns the level and the words of each finding about the bot.
func checkBot(t *testing.T, project string) map[string]string {
	t.Helper()
	var checkup wire.Checkup
	r := run("--root", project, "serve", "check", "--json")
	rig.Must(t, json.Unmarshal([]byte(r.out), &checkup))
	rig.Check(t, r.code == int(fail.Unfit), "exit code %d: this claude is unfit", r.code)
	found := map[string]string{}
	for _, f := range checkup.Checks {
		found[f.ID] += f.Level + ": " + f.What + lines("") + strings.Join(f.Fix, ", ")
	}
	return found
}

func TestServeCheckFindsWhatIsAmiss(t *testing.T) {
	t.Parallel()
	project, server := newBot(t)
	want := func(check string, texts ...string) {
		t.Helper()
		got := checkBot(t, project)[check]
		for _, text := range texts {
			rig.Check(t, strings.Contains(got, text), "%s finds %q; want %q", check, got, text)
		}
	}
	want("bot.setup", "failure: no bot is set up in this project", "nbs-worker serve setup telegram")
	setUp(t, project, server, lines(telegram.Token, "", ""), "--chat", "1,-5,7").want(t, 0)
	want("bot.setup", "ok: ")
	want("bot.token", "ok: Telegram accepts the token: @simulated_bot")
	want("bot.folder", "failure: Claude does not trust")
	want("bot.schedules", "ok: there are no schedules")
	want("service.serve", "note: nbs-worker serve does not run here")
	rig.Must(t, os.WriteFile(filepath.Join(project, ".nbs/schedules.yaml"), []byte("schedules: []\n"), 0o600))
	want("bot.schedules", "warning: ", "is not allowed", "nbs-worker allow --schedules")

	server.Block(7, true)
	server.RemoveBot(-5, 1)
	want("bot.chats", "ok: it reaches Ann, chat 1", "warning: chat 7 cannot be reached: Forbidden: bot was blocked by the user", "warning: chat -5 cannot be reached")
	server.SetWebhook("https://example.org/hook")
	want("bot.webhook", `failure: Telegram sends the bot's messages to "https://example.org/hook"`, "--delete-webhook")
	said := runOn(ui.Streams{In: strings.NewReader("y\n"), InTTY: true, ErrTTY: true}, "--root", project, "serve", "check").want(t, fail.Unfit, "Delete this webhook? [y/N]")
	rig.Check(t, strings.Contains(said.out, `fixed: the webhook "https://example.org/hook" is deleted`), "it says %s", said.out)
	want("bot.webhook", "ok: ")
	server.Fail(telegram.Failure{Method: "getMe", Code: 401})
	want("bot.token", "failure: ", "@BotFather")
	for method := range map[string]bool{"sendMessage": true, "getUpdates": true, "sendChatAction": true} {
		rig.Check(t, server.Calls(method) == 0, "check calls %s", method)
	}
}

// A group that has become another chat is looked for where it is now, and schedules may be delivered to either number.
func TestServeCheckFollowsAGroupThatMoved(t *testing.T) {
	t.Parallel()
	project, server := newBot(t)
	setUp(t, project, server, lines(telegram.Token, "", ""), "--chat", "-5").want(t, 0)
	now := strconv.FormatInt(server.Upgrade(-5, 1), 10)
	s, err := store.Open(project)
	rig.Must(t, err)
	defer s.Close()
	home, err := trust.HomeOf(os.Environ())
	rig.Must(t, err)
	s.Use(trust.NewKeeper(home))
	rig.Must(t, s.Deliveries().Put(deliveries.Note{ID: "telegram:moved:-5", Key: "telegram:-5", Text: "telegram:" + now, State: deliveries.Moved, At: time.Now()}))
	rig.Must(t, os.WriteFile(filepath.Join(project, ".nbs/schedules.yaml"), []byte("schedules:\n  old: {every: 1h, prompt: x, deliver_to: 'telegram:-5'}\n  new: {every: 1h, prompt: x, deliver_to: 'telegram:"+now+"/3'}\n"), 0o600))
	runOn(ui.Streams{In: strings.NewReader("y\n"), InTTY: true, OutTTY: true, ErrTTY: true}, "--root", project, "allow", "--schedules").want(t, 0)
	found := checkBot(t, project)
	rig.Check(t, strings.HasPrefix(found["bot.chats"], "ok: it reaches the group Home, chat "+now+", which was chat -5"), "it finds %s", found["bot.chats"])
	rig.Check(t, strings.HasPrefix(found["bot.schedules"], "ok: 2 schedules can run"), "it finds %s", found["bot.schedules"])
	setUp(t, project, server, "").want(t, 0, "allowed: the group Home, chat "+now)
}

func TestServeCheckKnowsPrivacyMode(t *testing.T) {
	t.Parallel()
	server, err := telegram.Start(telegram.Options{Privacy: true})
	rig.Must(t, err)
	t.Cleanup(func() { rig.Must(t, server.Close()) })
	server.Group(-5, "Home")
	project := newProject(t)
	setUp(t, project, server, lines(telegram.Token, "", ""), "--chat", "-5", "--group-all").want(t, 0, "in groups it is to take all messages, and gets only commands", "write /setprivacy to @BotFather, then add the bot to each group again")
	warned := checkBot(t, project)["bot.groups"]
	rig.Check(t, strings.HasPrefix(warned, "warning: in groups, @simulated_bot gets only commands") && strings.Contains(warned, "and is to take all"), "it finds %q", warned)
	setUp(t, project, server, lines(telegram.Token, "", ""), "--chat", "-5", "--group-all=false").want(t, 0, "to have it take all: write /setprivacy to @BotFather, and run nbs-worker serve setup telegram --group-all")
	got := checkBot(t, project)["bot.groups"]
	rig.Check(t, strings.HasPrefix(got, "note: in groups, @simulated_bot gets only commands"), "it finds %q", got)
}

// What flags of the setup say is kept with it and shown, so that the unit needs none; a later flag changes only its own.
func TestSetupKeepsHowTheChatsAreServed(t *testing.T) {
	t.Parallel()
	project, server := newBot(t)
	program := filepath.Join(t.TempDir(), "listen")
	rig.WriteProgram(t, program, "#!/bin/sh\n")
	flags := []string{"--group-all", "--transcribe-cmd", program, "--enrich", "--daily-limit", "2.5", "--model", "opus", "--system-prompt", "Be brief.", "--turn-timeout", "20m", "--permission-mode", "plan"}
	shown := []string{
		"all messages of groups are taken", "voice messages are written down by \"" + program, "Claude gets the time, the project and what is remembered with each text",
		"a chat begins no turn on a day on which it has cost 2.5 US dollars", "the model of new chats is opus", `the system prompt of new chats is "Be brief."`, "a turn ends after 20m0s without a sign of life",
	}
	setUp(t, project, server, lines(telegram.Token, ""), append([]string{"--chat", "1"}, flags...)...).want(t, 0, shown...)
	b, err := botOf(t, project)
	rig.Must(t, err)
	want := bot.Settings{SystemPrompt: "Be brief.", Model: "opus", Enrich: true, DailyLimit: 2.5, Silence: 20 * time.Minute, TranscribeCmd: program, GroupAll: true}
	rig.Same(t, "the settings", want, b.Settings)
	found := checkBot(t, project)["bot.settings"]
	for _, words := range shown {
		rig.Check(t, strings.Contains(found, "ok: "+words), "check does not show %q: %s", words, found)
	}

	rig.Must(t, os.Remove(program))
	found = checkBot(t, project)["bot.settings"]
	rig.Check(t, strings.Contains(found, "failure: ") && strings.Contains(found, `serve setup telegram --transcribe-cmd ""`), "it finds %s", found)
	prompt := filepath.Join(t.TempDir(), "prompt")
	rig.Must(t, os.WriteFile(prompt, []byte("Be kind."), 0o600))
	setUp(t, project, server, "", "--transcribe-cmd", "", "--daily-limit", "0", "--enrich=false", "--turn-timeout", "0", "--system-prompt-file", prompt, "--model", "").want(t, 0, "a turn has no time limit")
	b, err = botOf(t, project)
	rig.Must(t, err)
	rig.Same(t, "the settings", bot.Settings{SystemPrompt: "Be kind.", Silence: conversations.Unlimited, GroupAll: true}, b.Settings)
	setUp(t, project, server, "", "--daily-limit", "-1").want(t, fail.BadInput, "--daily-limit -1 is negative")
	setUp(t, project, server, "", "--transcribe-cmd", program).want(t, fail.BadInput, "is not a program")
}

// The topic bot shows what the setup and the check print.
func TestBotTopicShowsTheSetup(t *testing.T) {
	t.Parallel()
	_, server := newBot(t)
	server.Know(telegram.User{ID: 3, FirstName: "Carl"})
	server.Group(-5, "Family")
	project := newProject(t)
	server.Say(1, "Good morning!")
	server.SayAs(2, -5, "/start@"+telegram.Name)
	server.Say(3, "Hi, it is me")
	r := setUp(t, project, server, lines(telegram.Token, "y", "y", "y", "y", "y", "y", "n", "3", "n"), "--systemd").want(t, 0)
	checked := run("--root", project, "serve", "check")
	text := longOf("bot")
	for command, said := range map[string]string{"setup telegram": r.err + r.out, "check": checked.out} {
		_, block, found := strings.Cut(text, "$ nbs-worker serve "+command+"\n")
		block, _, _ = strings.Cut(block, "\n\n")
		said = strings.NewReplacer(" --root "+project, "", "for 20s", "for 5m").Replace(said)
		rig.Check(t, found, "the topic has no %s", command)
		for line := range strings.Lines(block) {
			line = regexp.MustCompile(`(\]|:) [y1-4n]$`).ReplaceAllString(strings.TrimSpace(line), "$1")
			before, after, _ := strings.Cut(line, "~") // a path
			_, after, _ = strings.Cut(after, "simulated_bot.token")
			if strings.Contains(line, "nbs-serve-") || strings.HasSuffix(before, "\"") || strings.HasPrefix(line, "ok       Claude trusts") || after != "" {
				continue // it names this project
			}
			rig.Check(t, strings.Contains(said, strings.TrimSpace(before)), "%s does not print %q:\n%s", command, line, said)
		}
	}
}

// The setup writes a LaunchAgent as export launchd does, with the log that only the user can read.
func TestSetupWritesALaunchAgent(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	project, server := newBot(t)
	token := filepath.Join(t.TempDir(), "token")
	rig.Must(t, os.WriteFile(token, []byte(telegram.Token), 0o600))
	setUp(t, project, server, "", "--token-file", token, "--chat", "1", "--launchd", "--systemd").want(t, fail.BadInput)
	r := setUp(t, project, server, "", "--token-file", token, "--chat", "1", "--launchd").want(t, 0, "LaunchAgent: "+home+"/Library/LaunchAgents/nbs-serve-")
	_, path, _ := strings.Cut(r.err, "LaunchAgent: ")
	path, _, _ = strings.Cut(path, "\n")
	domain := "gui/" + strconv.Itoa(os.Getuid())
	for _, want := range []string{"to run it now: launchctl bootstrap " + domain + " '" + path + "'\n", "to end it: launchctl bootout " + domain + " '" + path + "'\n"} {
		rig.Check(t, strings.Contains(r.err, want), "it does not say %q: %s", want, r.err)
	}
	exported := t.TempDir()
	run("--root", project, "export", "launchd", "--dir", exported).want(t, 0)
	want, err := os.ReadFile(filepath.Join(exported, filepath.Base(path)))
	rig.Must(t, err)
	text, err := os.ReadFile(path)
	rig.Must(t, err)
	rig.Equal(t, string(text), string(want), "the LaunchAgent")
	others, err := os.ReadDir(filepath.Dir(path))
	rig.Check(t, err == nil && len(others) == 1, "%v, %v", others, err)
}
