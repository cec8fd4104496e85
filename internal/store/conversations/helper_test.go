package conversations

import (
	"encoding/json"
	"os"
	"testing"

	"nbs-worker/internal/sim/rig"
	"nbs-worker/internal/store/private"
	"nbs-worker/internal/store/sealed"
	"nbs-worker/internal/store/storetest"
	"nbs-worker/internal/store/trust"
)

const (
	chat   = Key("telegram:123456789")
	review = Key("review")
)

func TestMain(m *testing.M) { os.Exit(storetest.Main(m, playRole)) }

// inProject is the conversations of a new project, and its folder.
func inProject(t testing.TB) (*Drawer, string) {
	t.Helper()
	return in(t, storetest.MemoryProject(t))
}

// in makes the conversations of a project.
func in(t testing.TB, project string) (*Drawer, string) {
	t.Helper()
	rig.Must(t, os.Mkdir(project+"/.nbs", 0o700))
	rig.Must(t, os.Mkdir(project+"/.nbs/"+private.Locks, 0o700))
	d := open(project)
	t.Cleanup(func() { storetest.Must(d.nbs.Close()) })
	return d, project
}

// open opens the conversations of a project. The user's state is beside it.
func open(project string) *Drawer {
	nbs, err := private.OpenFolder(project + "/.nbs")
	storetest.Must(err)
	return In(&sealed.Folder{Folder: nbs, Keeper: trust.NewKeeper(trust.Home(project + ".home")), Project: project, Prepare: func() error { return nil }})
}

func asked(id, text string) Request { return Request{ID: id, Text: text, At: storetest.SomeTime()} }

func mustEnqueue(t testing.TB, c *Conversation, request Request) Turn {
	t.Helper()
	turn, _, err := c.Enqueue(t.Context(), Meta{}, request)
	rig.Must(t, err)
	return turn
}

func mustState(t testing.TB, c *Conversation) State {
	t.Helper()
	s, err := c.State()
	rig.Must(t, err)
	return s
}

func start(seq int) Start {
	return Start{Seq: seq, Attempt: 1, Invocation: "i", Session: storetest.AliceID, Mode: New, At: storetest.SomeTime()}
}

func answered(seq int, answer string) Result {
	return Result{Seq: seq, Answer: answer, Continuity: New, SessionID: storetest.AliceID, At: storetest.SomeTime()}
}

func inWords(t testing.TB, s State) string {
	t.Helper()
	text, err := json.Marshal(s)
	rig.Must(t, err)
	return string(text)
}
