package deliveries

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"

	"nbs-worker/internal/fail"
	"nbs-worker/internal/sim/rig"
	"nbs-worker/internal/store/sealed"
	"nbs-worker/internal/store/storetest"
	"nbs-worker/internal/store/storetest/nbs"
)

func TestMain(m *testing.M) { os.Exit(storetest.Main(m, nil)) }

// What is open is known to the next process, in the order of the turns; what is over is known, and forgotten after a
// week.
func TestNotes(t *testing.T) {
	t.Parallel()
	d := In(nbs.New(t, Folder))
	open, err := d.Open()
	rig.Check(t, err == nil && len(open) == 0, "%+v, %v", open, err)
	at := storetest.SomeTime()
	for seq, id := range []string{"c", "b", "a"} {
		rig.Must(t, d.Put(Note{ID: id, Key: "telegram:1", Seq: seq + 1, State: Accepted, At: at}))
	}
	rig.Must(t, d.Put(Note{ID: "b", Key: "telegram:1", Seq: 2, State: Over, At: at}))
	open, err = d.Open()
	rig.Check(t, err == nil && len(open) == 2 && open[0].ID == "c" && open[1].ID == "a", "%+v, %v", open, err)
	n, there, err := d.Get("b")
	rig.Check(t, err == nil && there && n.State == Over, "%+v, %v", n, err)
	rig.Must(t, d.Put(Note{ID: "d", State: Accepted, At: at.Add(8 * 24 * time.Hour)}))
	_, there, err = d.Get("b")
	rig.Check(t, !there && err == nil, "what was over a week ago is there: %v", err)
	_, there, err = d.Get("c")
	rig.Check(t, there && err == nil, "what is open is gone: %v", err)
}

// A group that became another chat keeps the key of its conversation, and the other chat counts its messages from 1.
func TestAMessageOfAnotherChatIsNoPost(t *testing.T) {
	t.Parallel()
	d := In(nbs.New(t, Folder))
	for i, chat := range []Number{"-7", "-1007"} {
		handle := []string{"alpha", "beta"}[i]
		rig.Must(t, d.Put(Note{ID: handle, Key: "telegram:-7", State: Begun, Growing: "5", GrowsIn: chat, Post: &Post{Handle: handle}, At: storetest.SomeTime()}))
	}
	for chat, want := range map[Number]string{"-7": "alpha", "-1007": "beta", "-1008": ""} {
		p, there, err := d.PostOf("telegram:-7", chat, "5")
		rig.Check(t, err == nil && p.Handle == want && there == (want != ""), "%s: %+v, %v", chat, p, err)
	}
}

// What was changed, or has the name of another, does not count; it is told, with what to do.
func TestNotesOfOthers(t *testing.T) {
	t.Parallel()
	in := nbs.New(t, Folder)
	d := In(in)
	rig.Must(t, d.Put(Note{ID: "a", Key: "telegram:1", State: Accepted, At: storetest.SomeTime()}))
	path := in.Path(Folder, fileOf("a"))
	text := storetest.Read(t, path)
	storetest.Write(t, in.Path(Folder, fileOf("b")), text)
	open, err := d.Open()
	storetest.WantKind(t, "of another name", err, fail.Held)
	storetest.WantHint(t, err, "rm ")
	rig.Check(t, len(open) == 1, "%+v", open)
	storetest.Write(t, path, strings.Replace(text, string(Accepted), string(Over), 1))
	_, _, err = d.Get("a")
	storetest.WantKind(t, "changed", err, fail.Held)
}

// A note that a later version has extended is not taken for one of others, which its reader is told to remove.
func TestANoteOfALaterVersionIsTold(t *testing.T) {
	t.Parallel()
	in := nbs.New(t, Folder)
	later := &laterFile{}
	later.Note.ID, later.Note.More = "a", "new"
	rig.Must(t, in.Put(Folder, fileOf("a"), later, fileLimit))
	_, _, err := In(in).Get("a")
	storetest.WantKind(t, "of a later version", err, fail.Unfit)
	storetest.WantHint(t, err, "use that version")
}

type laterFile struct {
	Note struct {
		Note
		More string `json:"more"`
	} `json:"note"`
	Seal string `json:"seal"`
}

func (f *laterFile) Sealed(string) sealed.Over {
	return sealed.Over{Kind: "delivery", Place: Folder + "/" + fileOf(f.Note.ID), Content: f.Note, Seal: &f.Seal}
}

// What earlier versions wrote had numbers only, and their seals hold: they are over the same text.
func TestANumberKeepsItsForm(t *testing.T) {
	t.Parallel()
	for _, text := range []string{`{"messages":[5,-1007],"growing":12,"grows_in":-1001234567890123}`, `{"messages":["$abc:home.org","05"],"growing":"$x"}`, `{}`} {
		type numbers struct {
			Messages []Number `json:"messages,omitempty"`
			Growing  Number   `json:"growing,omitempty"`
			GrowsIn  Number   `json:"grows_in,omitempty"`
		}
		var n numbers
		rig.Must(t, json.Unmarshal([]byte(text), &n))
		again, err := json.Marshal(n)
		rig.Check(t, err == nil && string(again) == text, "%s became %s, %v", text, again, err)
	}
}
