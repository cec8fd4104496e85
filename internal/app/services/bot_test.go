package services

import (
	"path/filepath"
	"slices"
	"testing"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/chat/telegram"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/sim/rig"
	"nbs-worker/internal/store"
	"nbs-worker/internal/store/bot"
	"nbs-worker/internal/store/conversations"
	"nbs-worker/internal/store/storetest"
	"nbs-worker/internal/team/headless/headlesstest"
)

// projectAndToken returns an empty project, and a token that is not the one of a setup.
func projectAndToken(t *testing.T) (*store.Store, telegram.Token) {
	t.Helper()
	in, err := headlesstest.Project(storetest.MemoryProject(t), rig.MemoryDir(t))
	rig.Must(t, err)
	t.Cleanup(func() { rig.Must(t, in.Close()) })
	given, err := telegram.ParseToken("1000:given")
	rig.Must(t, err)
	return in, given
}

// A token that is given replaces that of the setup, and nothing else of it: neither the chats nor what Claude may do.
func TestAGivenTokenReplacesOnlyTheToken(t *testing.T) {
	t.Parallel()
	in, given := projectAndToken(t)
	o := &ChatOptions{}
	_, is, err := setUp(in, o, given, true)
	rig.Check(t, is && err == nil && len(o.Allowed) == 0, "without a setup: %t, %v", is, err)
	rights := conversations.Rights{PermissionMode: agent.PermissionMode("acceptEdits")}
	rig.Must(t, in.Bot().Put(bot.Bot{TokenFile: filepath.Join(t.TempDir(), "gone"), Chats: []int64{1}, Writers: bot.Writers{Users: []int64{2}}, Rights: rights}))
	token, is, err := setUp(in, o, given, true)
	rig.Check(t, is && err == nil && token == given, "%t, %v", is, err)
	rig.Check(t, len(o.Allowed) == 1 && len(o.Users) == 1 && o.Rights == rights, "%+v", o)
}

// A flag of serve counts before what was set up, also one that turns something off; the others are as they were set up.
func TestAFlagOfServeCountsBeforeTheSetup(t *testing.T) {
	t.Parallel()
	in, given := projectAndToken(t)
	kept := bot.Settings{SystemPrompt: "Be brief.", Model: "opus", Enrich: true, DailyLimit: 2, Silence: time.Minute, TranscribeCmd: "/bin/listen", ContextCmd: "/bin/tell", GroupAll: true}
	rig.Must(t, in.Bot().Put(bot.Bot{Chats: []int64{1}, Settings: kept}))
	o := &ChatOptions{}
	_, _, err := setUp(in, o, given, true)
	rig.Must(t, err)
	rig.Same(t, "without a flag", kept, o.Settings)
	o = &ChatOptions{Settings: bot.Settings{Model: "sonnet"}, Given: func(flag string) bool {
		return slices.Contains([]string{"model", "enrich", "daily-limit", "group-all"}, flag)
	}}
	_, _, err = setUp(in, o, given, true)
	rig.Must(t, err)
	kept.Model, kept.Enrich, kept.DailyLimit, kept.GroupAll = "sonnet", false, 0, false
	rig.Same(t, "with flags", kept, o.Settings)
}

// What a flag says of who may write counts for the chats that it names, or for all; a chat that is not served has no users.
func TestUsersOfOneChat(t *testing.T) {
	t.Parallel()
	in, given := projectAndToken(t)
	kept := bot.Writers{Users: []int64{1}, UsersIn: map[int64][]int64{-5: {2}}}
	rig.Must(t, in.Bot().Put(bot.Bot{Chats: []int64{1, -5, -6}, Writers: kept}))
	for _, c := range []struct{ flags, want bot.Writers }{
		{bot.Writers{}, kept},
		{bot.Writers{UsersIn: map[int64][]int64{-6: {3}}}, bot.Writers{Users: []int64{1}, UsersIn: map[int64][]int64{-5: {2}, -6: {3}}}},
		{bot.Writers{UsersIn: map[int64][]int64{-5: {}}}, bot.Writers{Users: []int64{1}, UsersIn: map[int64][]int64{-5: {}}}},
		{bot.Writers{Users: []int64{4}}, bot.Writers{Users: []int64{4}}},
	} {
		o := &ChatOptions{Writers: c.flags}
		_, _, err := setUp(in, o, given, true)
		rig.Must(t, err)
		rig.Same(t, "who may write", c.want, o.Writers)
	}
	_, _, err := setUp(in, &ChatOptions{Writers: bot.Writers{UsersIn: map[int64][]int64{-7: {3}}}}, given, true)
	storetest.WantKind(t, "a chat that is not served", err, fail.BadInput)
}

// The commands that reach agents are off until a person was asked; a flag of an earlier setup counts as the answer.
func TestWhatAnEarlierSetupSaysOfAgents(t *testing.T) {
	t.Parallel()
	in, given := projectAndToken(t)
	const off, private, all = "/file, /agents, /send and /resume are off", "/file, /agents, /send and /resume work in private chats", "/file, /agents, /send and /resume work in all chats"
	for _, c := range []struct {
		kept bot.Bot
		flag bot.Reach
		says string
	}{
		{kept: bot.Bot{}, says: off + "; to turn them on: nbs-worker serve setup telegram --agents private"},
		{kept: bot.Bot{GroupCommands: true}, says: all},
		{kept: bot.Bot{Agents: bot.ReachNone}, says: off},
		{kept: bot.Bot{Agents: bot.ReachPrivate}, says: private},
		{kept: bot.Bot{Agents: bot.ReachPrivate}, flag: bot.ReachNone, says: off},
		{kept: bot.Bot{}, flag: bot.ReachAll, says: all},
	} {
		rig.Must(t, in.Bot().Put(c.kept))
		o := &ChatOptions{Agents: c.flag, Given: func(flag string) bool { return flag == "agents" && c.flag != "" }}
		_, _, err := setUp(in, o, given, true)
		rig.Must(t, err)
		rig.Equal(t, o.reach(), c.says, "what serve says")
	}
}
