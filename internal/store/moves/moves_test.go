package moves

import (
	"errors"
	"io/fs"
	"os"
	"strings"
	"testing"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/sim/rig"
	"nbs-worker/internal/store/private"
	"nbs-worker/internal/store/sealed"
	"nbs-worker/internal/store/storetest"
	"nbs-worker/internal/store/storetest/nbs"
)

// drawer is that of a project without moves, and its .nbs.
func drawer(t *testing.T) (*Drawer, *sealed.Folder) {
	t.Helper()
	in := nbs.New(t, Folder)
	return In(in, private.Tree(t.TempDir()+"/packages")), in
}

func put(t *testing.T, d *Drawer, n Note) Note {
	t.Helper()
	rig.Must(t, d.Put(n))
	n, err := d.Get(n.ID)
	rig.Must(t, err)
	return n
}

// The last departure of an agent counts, also if the clock was put back before it.
func TestTheLastDepartureCounts(t *testing.T) {
	t.Parallel()
	d, _ := drawer(t)
	now := storetest.SomeTime()
	first := put(t, d, Note{ID: agent.NewMoveID(), Handle: "alice", State: Left, Place: "build1", At: now})
	put(t, d, Note{ID: agent.NewMoveID(), Handle: "bob", State: Left, Place: "build3", At: now})
	last := put(t, d, Note{ID: agent.NewMoveID(), Handle: "Alice", State: Left, Place: "build2", At: now.Add(-time.Hour)})
	put(t, d, Note{ID: agent.NewMoveID(), Handle: "alice", State: Given, Place: "build4", At: now.Add(time.Hour)})
	first.State = Done // it is known late that it had arrived
	put(t, d, first)
	found := d.Of("alice")
	rig.Check(t, found != nil && found.ID == last.ID, "%+v", found)
	rig.Check(t, d.Of("carol") == nil, "an agent that has not left")
	last.State = Lost
	put(t, d, last)
	found = d.Of("alice")
	rig.Check(t, found != nil && found.ID == first.ID, "one that is here again: %+v", found)
}

// A note counts with the user's seal, for its own move.
func TestANoteOfAnotherHand(t *testing.T) {
	t.Parallel()
	d, in := drawer(t)
	n := put(t, d, Note{ID: agent.NewMoveID(), Handle: "alice", State: Given, Place: "build1", At: storetest.SomeTime()})
	path := in.Path(Folder, n.ID+".json")
	text := storetest.Read(t, path)

	storetest.Write(t, path, strings.Replace(text, `"given"`, `"left"`, 1))
	_, err := d.Get(n.ID)
	rig.Check(t, fail.KindOf(err) == fail.Held && d.Of("alice") == nil, "a changed one: %v", err)

	other := agent.NewMoveID()
	storetest.Write(t, in.Path(Folder, other+".json"), text)
	_, err = d.Get(other)
	rig.Check(t, err != nil, "one under another name")

	_, err = d.Get("../" + n.ID)
	rig.Check(t, fail.KindOf(err) == fail.BadInput, "%v", err)
	none, err := d.Get(agent.NewMoveID())
	rig.Check(t, err == nil && none.State == "", "of no move: %+v, %v", none, err)
}

// The id of a place is always the same, and that of no other project.
func TestPlaceID(t *testing.T) {
	t.Parallel()
	d, in := drawer(t)
	id, err := d.PlaceID()
	rig.Must(t, err)
	again, err := In(in, private.NoTree).PlaceID()
	rig.Check(t, err == nil && again == id && id != "", "%q, %q, %v", id, again, err)
	elsewhere := *in
	elsewhere.Project += "-2"
	other, err := In(&elsewhere, private.NoTree).PlaceID()
	rig.Check(t, err == nil && other != id, "of another project: %q, %v", other, err)
}

// kept brings a package of a conversation.
func kept(t *testing.T, d *Drawer, id string, session agent.SessionID, digest string) {
	t.Helper()
	p, err := d.Receive(id, storetest.SomeTime())
	rig.Must(t, err)
	defer p.Discard()
	f, err := p.OpenFile("0", os.O_WRONLY|os.O_CREATE, 0o600)
	rig.Must(t, err)
	_, err = f.WriteString("text")
	rig.Must(t, errors.Join(err, f.Close()))
	rig.Must(t, p.Labeled(Label{Handle: "alice", Session: session, From: "laptop"}))
	rig.Must(t, p.Keep(digest))
}

// A package counts once it is whole, and goes with its move or when the conversation comes by another one.
func TestPackages(t *testing.T) {
	t.Parallel()
	d, _ := drawer(t)
	one, two := strings.Repeat("a", 64), strings.Repeat("b", 64)
	alice, bob := agent.NewSessionID(), agent.NewSessionID()
	first, second, other := agent.NewMoveID(), agent.NewMoveID(), agent.NewMoveID()
	half, err := d.Receive(first, storetest.SomeTime())
	rig.Must(t, err)
	_, err = d.Open(first, one)
	rig.Check(t, fail.KindOf(err) == fail.NotFound, "a half package: %v", err)
	half.Discard()

	kept(t, d, first, alice, one)
	kept(t, d, first, alice, one)
	kept(t, d, first, alice, two)
	kept(t, d, second, alice, one)
	kept(t, d, other, bob, one)
	p, err := d.Open(first, one)
	rig.Must(t, err)
	text, err := fs.ReadFile(p.FS(), "0")
	rig.Check(t, err == nil && string(text) == "text", "%q, %v", text, err)
	rig.Must(t, p.Close())
	label, err := d.Label(first, one)
	rig.Check(t, err == nil && label.Handle == "alice" && label.Session == alice, "%+v, %v", label, err)
	waiting := func() int {
		all, err := d.Waiting()
		rig.Must(t, err)
		return len(all)
	}
	rig.Equal(t, waiting(), 4, "packages that wait")
	rig.Must(t, d.DropOthers(alice, second))
	rig.Equal(t, waiting(), 2, "packages after another one of the conversation")
	rig.Must(t, d.Drop(second))
	rig.Must(t, d.Drop(second))
	_, err = d.Open(other, one)
	rig.Check(t, err == nil && waiting() == 1, "that of bob: %v", err)
	_, err = d.Open(first, "../"+one[3:])
	rig.Check(t, fail.KindOf(err) == fail.BadInput, "%v", err)
}

// What a killed command has left of a package is removed a day later.
func TestHalfPackagesAreSwept(t *testing.T) {
	t.Parallel()
	d, _ := drawer(t)
	_, err := d.Receive(agent.NewMoveID(), time.Now())
	rig.Must(t, err)
	count := func() int {
		names, err := d.tree.Names()
		rig.Must(t, err)
		return len(names)
	}
	p, err := d.Receive(agent.NewMoveID(), time.Now())
	rig.Must(t, err)
	rig.Equal(t, count(), 2, "of two that are being received")
	p.Discard()
	p, err = d.Receive(agent.NewMoveID(), time.Now().Add(25*time.Hour))
	rig.Must(t, err)
	p.Discard()
	rig.Equal(t, count(), 0, "a day later")
}

// An agent that has come back by another move has not left any more.
func TestAnAgentCameBack(t *testing.T) {
	t.Parallel()
	d, _ := drawer(t)
	session := agent.NewSessionID()
	first := put(t, d, Note{ID: agent.NewMoveID(), Handle: "alice", SessionID: session, State: Done, Place: "build1", Number: 1, At: storetest.SomeTime()})
	other := put(t, d, Note{ID: agent.NewMoveID(), Handle: "alice", SessionID: agent.NewSessionID(), State: Done, Place: "build2", At: storetest.SomeTime()})
	rig.Must(t, d.CameBack(agent.NewMoveID(), []agent.SessionID{session}))
	n, err := d.Get(first.ID)
	rig.Check(t, err == nil && n.State == Back, "%+v, %v", n, err)
	found := d.Of("alice")
	rig.Check(t, found != nil && found.ID == other.ID, "another agent of the name: %+v", found)
}
