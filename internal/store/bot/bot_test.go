package bot

import (
	"os"
	"path/filepath"
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
	want := Bot{Username: "a_bot", TokenFile: "/state/a_bot.token", Chats: []int64{1, -100}, Users: []int64{1}, Permitted: true}
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
