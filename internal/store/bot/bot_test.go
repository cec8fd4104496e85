package bot

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"nbs-worker/internal/fail"
	"nbs-worker/internal/sim/rig"
	"nbs-worker/internal/store/conversations"
	"nbs-worker/internal/store/private"
	"nbs-worker/internal/store/sealed"
	"nbs-worker/internal/store/storetest"
	"nbs-worker/internal/store/storetest/nbs"
)

func TestMain(m *testing.M) { os.Exit(storetest.Main(m, nil)) }

// What was set up is there for the next process; what was changed, or came with a project, does not count.
func TestABotIsKept(t *testing.T) {
	t.Parallel()
	in := nbs.New(t)
	d := In(in, private.Tree(filepath.Join(t.TempDir(), "telegram")))
	_, err := d.Get()
	storetest.WantKind(t, "no bot", err, fail.NotFound)
	storetest.WantHint(t, err, "nbs-worker serve setup telegram")
	want := Bot{Username: "a_bot", TokenFile: "/state/a_bot.token", Chats: []int64{1, -100}, Writers: Writers{Users: []int64{1}, UsersIn: map[int64][]int64{-100: {2}, -101: {}}}, Permitted: true, Agents: ReachPrivate}
	want.Rights, err = conversations.ParseRights("plan", "Read")
	rig.Must(t, err)
	rig.Must(t, d.Put(want))
	got, err := d.Get()
	rig.Must(t, err)
	rig.Same(t, "the bot", want, got)

	text := storetest.Read(t, d.Path())
	storetest.Write(t, d.Path(), strings.Replace(text, `"plan"`, `"bypassPermissions"`, 1))
	_, err = d.Get()
	storetest.WantKind(t, "changed", err, fail.Held)
	storetest.WantHint(t, err, "look at it; to set the bot up again: nbs-worker serve setup telegram")
	storetest.Write(t, d.Path(), text[:len(text)/2])
	_, err = d.Get()
	storetest.WantKind(t, "cut short", err, fail.Held)
}

// What a later version has set up is not replaced as a stranger's would be.
func TestABotOfALaterVersionIsTold(t *testing.T) {
	t.Parallel()
	in := nbs.New(t)
	rig.Must(t, in.Put(".", fileName, &laterFile{}, fileLimit))
	_, err := In(in, private.Tree(t.TempDir())).Get()
	storetest.WantKind(t, "of a later version", err, fail.Unfit)
	storetest.WantHint(t, err, "use that version")
}

// A bot that an earlier version has set up is read: its users are those of each chat.
func TestABotOfAnEarlierVersionIsRead(t *testing.T) {
	t.Parallel()
	in := nbs.New(t)
	early := &earlyFile{}
	early.Bot.Chats, early.Bot.Users, early.Bot.GroupCommands, early.Bot.Permitted = []int64{1, -5}, []int64{1, 2}, true, true
	rig.Must(t, in.Put(".", fileName, early, fileLimit))
	b, err := In(in, private.Tree(t.TempDir())).Get()
	rig.Must(t, err)
	rig.Check(t, slices.Equal(b.In(-5), []int64{1, 2}) && slices.Equal(b.In(1), []int64{1, 2}) && b.Reach() == ReachAll && b.Permitted, "%+v", b)
}

type earlyFile struct {
	Schema int `json:"schema"`
	Bot    struct {
		Username      string  `json:"username"`
		TokenFile     string  `json:"token_file"`
		Chats         []int64 `json:"chats"`
		Users         []int64 `json:"users,omitempty"`
		GroupCommands bool    `json:"group_commands,omitempty"`
		URL           string  `json:"url,omitempty"`
		conversations.Rights
		Permitted bool `json:"permitted,omitempty"`
	} `json:"bot"`
	Seal string `json:"seal"`
}

func (f *earlyFile) Sealed(string) sealed.Over {
	return sealed.Over{Kind: "bot", Place: fileName, Content: f.Bot, Seal: &f.Seal}
}

type laterFile struct {
	Bot struct {
		Bot
		More bool `json:"more"`
	} `json:"bot"`
	Seal string `json:"seal"`
}

func (f *laterFile) Sealed(string) sealed.Over {
	return sealed.Over{Kind: "bot", Place: fileName, Content: f.Bot, Seal: &f.Seal}
}

func TestATokenIsPrivateAndOutsideOfTheProject(t *testing.T) {
	t.Parallel()
	tokens := filepath.Join(t.TempDir(), "state", "telegram")
	d := In(nbs.New(t), private.Tree(tokens))
	path, err := d.KeepToken("a_bot", []byte("1:x\n"))
	rig.Must(t, err)
	rig.Check(t, path == filepath.Join(tokens, "a_bot.token") && storetest.Read(t, path) == "1:x\n", "it is in %s", path)
	rig.MustBePrivate(t, tokens, 1)
}
