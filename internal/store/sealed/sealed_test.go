package sealed_test

import (
	"errors"
	"io/fs"
	"os"
	"strings"
	"testing"

	"nbs-worker/internal/fail"
	"nbs-worker/internal/sim/rig"
	"nbs-worker/internal/store/sealed"
	"nbs-worker/internal/store/storetest"
	"nbs-worker/internal/store/storetest/nbs"
	"nbs-worker/internal/store/trust"
)

func TestMain(m *testing.M) { os.Exit(storetest.Main(m, nil)) }

type note struct {
	Text, Seal string
	place      string
}

func (n *note) Sealed(string) sealed.Over {
	return sealed.Over{Kind: "note", Place: n.place, Content: n.Text, Seal: &n.Seal}
}

// A file counts as a command of this user wrote it, in its place, and in no other way.
func TestFileThatIsNotAsItWasWrittenIsRefused(t *testing.T) {
	t.Parallel()
	f := nbs.New(t, "notes")
	get := func(from *sealed.Folder, place string) (note, error) {
		n := note{place: place}
		err := from.Get("notes", "a.json", &n, 1<<10)
		if err != nil {
			err = from.Refused("notes/a.json", "", err, "rm it")
		}
		return n, err
	}
	rig.Must(t, f.Put("notes", "a.json", &note{Text: "42", place: "notes/a.json"}, 1<<10))
	n, err := get(f, "notes/a.json")
	rig.Check(t, err == nil && n.Text == "42", "%+v, %v", n, err)
	_, err = get(f, "notes/b.json")
	storetest.WantKind(t, "in another place", err, fail.Held)

	file := f.Path("notes", "a.json")
	written := storetest.Read(t, file)
	other := nbs.Another(t, f, "/srv/clone", "notes")
	storetest.Write(t, other.Path("notes", "a.json"), written)
	_, err = get(other, "notes/a.json")
	storetest.WantKind(t, "of another project", err, fail.Held)
	for what, text := range map[string]string{"changed": strings.Replace(written, "42", "43", 1), "damaged": "{", "no seal": `{"Text": "42"}`} {
		storetest.Write(t, file, text)
		_, err := get(f, "notes/a.json")
		storetest.WantKind(t, what, err, fail.Held)
		storetest.WantHint(t, err, "rm it")
	}
	rig.Must(t, os.Remove(file))
	rig.Check(t, errors.Is(f.Get("notes", "a.json", &n, 1<<10), fs.ErrNotExist), "it is gone")
}

// A key that cannot be read at the moment says nothing of a file.
func TestFileWithoutTheKeyIsNotRefused(t *testing.T) {
	t.Parallel()
	f := nbs.New(t, "notes")
	rig.Must(t, f.Put("notes", "a.json", &note{}, 1<<10))
	f.Keeper = trust.NewKeeper(trust.Home(f.Path("notes", "a.json"))) // no folder
	err := f.Refused("notes/a.json", "", f.Get("notes", "a.json", &note{}, 1<<10), "rm it")
	storetest.WantKind(t, "a key in no folder", err, fail.Failed)
	rig.Check(t, !strings.Contains(strings.Join(fail.HintsOf(err), " "), "rm it"), "%q", fail.HintsOf(err))
}

// A file of a later version has its seal over fields that this one does not know. It is not taken for a stranger's, and
// nothing of it is used.
func TestFileOfALaterVersionIsTold(t *testing.T) {
	t.Parallel()
	f := nbs.New(t, "notes")
	get := func() error {
		var n noteOf[struct{ Text string }]
		return f.Refused("notes/a.json", "", f.Get("notes", "a.json", &n, 1<<10), "rm it")
	}
	for _, later := range []sealed.File{
		&noteOf[struct{ Text, More string }]{Note: struct{ Text, More string }{"42 <b>", "new"}},
		&noteOf[struct{ Text []string }]{Note: struct{ Text []string }{[]string{"42"}}},
	} {
		rig.Must(t, f.Put("notes", "a.json", later, 1<<10))
		err := get()
		storetest.WantKind(t, "of a later version", err, fail.Unfit)
		storetest.WantHint(t, err, "use that version")
		rig.Check(t, strings.Contains(err.Error(), ".nbs/notes/a.json has what this program does not know: a later version wrote it"), "%v", err)
		written := storetest.Read(t, f.Path("notes", "a.json"))
		storetest.Write(t, f.Path("notes", "a.json"), strings.Replace(written, "42", "43", 1))
		storetest.WantKind(t, "changed", get(), fail.Held)
	}
}

type noteOf[T any] struct {
	Note T      `json:"note"`
	Seal string `json:"seal"`
}

func (n *noteOf[T]) Sealed(string) sealed.Over {
	return sealed.Over{Kind: "note", Place: "notes/a.json", Content: n.Note, Field: "note", Seal: &n.Seal}
}
