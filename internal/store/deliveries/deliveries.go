// Package deliveries keeps what was done for messages that come from outside, such as those of a chat, below
// .nbs/deliveries: a file for each, by the id of the message, so that nothing is done twice for a message that
// comes again, and an answer that was not told is told by the next process.
//
//   - A file is replaced whole and durably. It has the user's seal, over the project and its place too: what
//     came with a project does not say what was told.
//   - What is over is forgotten after a week, which is longer than anybody repeats a message.
//   - There is one writer of an id.
//
// The package knows files and seals, and must not import what does anything.
package deliveries

import (
	"cmp"
	"errors"
	"io/fs"
	"slices"
	"strings"
	"sync"
	"time"

	"nbs-worker/internal/human"
	"nbs-worker/internal/store/private"
	"nbs-worker/internal/store/sealed"
	"nbs-worker/internal/store/trust"
)

// Folder is where the notes are, below .nbs.
const Folder = "deliveries"

const (
	fileLimit = 64 << 10 // bytes
	kept      = 7 * 24 * time.Hour
)

// State is how far a message came.
type State string

// The states.
const (
	Accepted State = "accepted" // it is in the queue of its conversation
	Telling  State = "telling"  // its answer is being told, or was
	Begun    State = "begun"    // what it asks for is being done, or was
	Over     State = "over"
)

// Note is what is known of a message.
type Note struct {
	ID    string `json:"id"`
	Key   string `json:"key"`           // of its conversation
	Seq   int    `json:"seq,omitempty"` // of its turn
	State State  `json:"state"`
	Text  string `json:"text,omitempty"` // what came of it, in words

	Untold string    `json:"untold,omitempty"` // why its answer was not told, or not all of it
	At     time.Time `json:"at"`
}

// Drawer is the notes of a project.
type Drawer struct {
	nbs *sealed.Folder

	mu    sync.Mutex
	swept time.Time
}

// In is the notes in the .nbs folder of a project.
func In(nbs *sealed.Folder) *Drawer { return &Drawer{nbs: nbs} }

// file is the content of a file.
type file struct {
	Note Note   `json:"note"`
	Seal string `json:"seal"`
}

func (f *file) Sealed(string) sealed.Over {
	return sealed.Over{Kind: "delivery", Place: Folder + "/" + fileOf(f.Note.ID), Content: f.Note, Seal: &f.Seal}
}

// Put writes a note, durably.
func (d *Drawer) Put(n Note) error {
	d.sweep(n.At)
	return d.nbs.Put(Folder, fileOf(n.ID), &file{Note: n}, fileLimit)
}

// Get is the note of an id; there is false when it does not exist. Errors: as of [sealed.Folder.Refused].
func (d *Drawer) Get(id string) (n Note, there bool, err error) {
	n, err = d.read(fileOf(id))
	if errors.Is(err, fs.ErrNotExist) {
		return Note{}, false, nil
	}
	return n, err == nil, err
}

// Open are the notes of what is not over, each conversation's in the order of its turns. Those that can be read are
// returned beside the error for those that cannot.
func (d *Drawer) Open() ([]Note, error) {
	return d.sorted(func(n Note) bool { return n.State != Over })
}

// Untold are the notes on the answers of a conversation that were not told, in the order of its turns, as [Drawer.Open]
// returns them.
func (d *Drawer) Untold(key string) ([]Note, error) {
	return d.sorted(func(n Note) bool { return n.Key == key && n.Untold != "" })
}

func (d *Drawer) sorted(wanted func(Note) bool) ([]Note, error) {
	all, err := d.all()
	all = slices.DeleteFunc(all, func(n Note) bool { return !wanted(n) })
	slices.SortFunc(all, func(a, b Note) int {
		return cmp.Or(cmp.Compare(a.Key, b.Key), cmp.Compare(a.Seq, b.Seq), a.At.Compare(b.At))
	})
	return all, err
}

func (d *Drawer) all() ([]Note, error) {
	names, err := d.nbs.List(Folder)
	var notes []Note
	errs := []error{err}
	for _, name := range names {
		if strings.HasPrefix(name, ".") {
			continue // it is being written
		}
		n, err := d.read(name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if errs = append(errs, err); err == nil {
			notes = append(notes, n)
		}
	}
	return notes, errors.Join(errs...)
}

// sweep forgets, once a day, what was over a week ago.
func (d *Drawer) sweep(now time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if now.Sub(d.swept) < 24*time.Hour {
		return
	}
	d.swept = now
	all, _ := d.all() // a note that cannot be read is reported when it is needed
	for _, n := range all {
		if n.State == Over && now.Sub(n.At) > kept {
			_ = d.nbs.Remove(Folder + "/" + fileOf(n.ID))
		}
	}
}

func (d *Drawer) read(name string) (Note, error) {
	var read file
	err := d.nbs.Get(Folder, name, &read, fileLimit)
	if err == nil && fileOf(read.Note.ID) != name {
		err = trust.ErrSeal
	}
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		return read.Note, err
	}
	return Note{}, d.nbs.Refused(Folder+"/"+name, "", err,
		"look at what it is; without it a message may be answered twice: rm "+human.ShellWord(d.nbs.Path(Folder, name)))
}

func fileOf(id string) string { return string(private.SumOf([]byte(id))) + ".json" }
