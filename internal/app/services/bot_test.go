package services

import (
	"path/filepath"
	"testing"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/chat/telegram"
	"nbs-worker/internal/sim/rig"
	"nbs-worker/internal/store/bot"
	"nbs-worker/internal/store/conversations"
	"nbs-worker/internal/store/storetest"
	"nbs-worker/internal/team/headless/headlesstest"
)

// A token that is given replaces that of the setup, and nothing else of it: neither the chats nor what Claude may do.
func TestAGivenTokenReplacesOnlyTheToken(t *testing.T) {
	t.Parallel()
	in, err := headlesstest.Project(storetest.MemoryProject(t), rig.MemoryDir(t))
	rig.Must(t, err)
	defer in.Close()
	given, err := telegram.ParseToken("1000:given")
	rig.Must(t, err)
	o := &ChatOptions{}
	_, is, err := setUp(in, o, given, true)
	rig.Check(t, is && err == nil && len(o.Allowed) == 0, "without a setup: %t, %v", is, err)
	rights := conversations.Rights{PermissionMode: agent.PermissionMode("acceptEdits")}
	rig.Must(t, in.Bot().Put(bot.Bot{TokenFile: filepath.Join(t.TempDir(), "gone"), Chats: []int64{1}, Users: []int64{2}, Rights: rights}))
	token, is, err := setUp(in, o, given, true)
	rig.Check(t, is && err == nil && token == given, "%t, %v", is, err)
	rig.Check(t, len(o.Allowed) == 1 && len(o.Users) == 1 && o.Rights == rights, "%+v", o)
}
