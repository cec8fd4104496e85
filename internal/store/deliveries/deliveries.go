// Package deliveries records what was done for incoming messages, such as those of a chat, below
// .nbs/deliveries, in one file for each message id. A message that comes again is not handled twice. If an
// answer was not delivered, the next process delivers it.
//
//   - A file is replaced whole and durably. It has the user's seal, over the project and its place too: a file
//     that came with a project must not say what was delivered.
//   - A finished file is removed after a week. A sender that may repeat a message after so long passes it over: see Kept.
//   - Each id has one writer: one process. If several of its goroutines may write, each one uses Change or Update.
//
// The package knows files and seals, and must not import what does anything.
package deliveries

import (
	"cmp"
	"errors"
	"io/fs"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"nbs-worker/internal/human"
	"nbs-worker/internal/store/private"
	"nbs-worker/internal/store/sealed"
	"nbs-worker/internal/store/trust"
)

// Folder is the folder of the notes, below .nbs.
const Folder = "deliveries"

const fileLimit = 64 << 10 // bytes

// Kept is how long a finished file is kept at least.
const Kept = 7 * 24 * time.Hour

// State is the progress of a message.
type State string

// The states.
const (
	Accepted State = "accepted" // it is in the queue of its conversation
	Telling  State = "telling"  // its answer is being told, or was
	Waits    State = "waits"    // it is a command, or a message behind one, and nothing was done of it
	Begun    State = "begun"    // what it asks for is being done, or was
	Over     State = "over"
	Gathered State = "gathered" // it has several parts, and is about to be accepted
	Joined   State = "joined"   // it is a part of the message whose id is in Text, if that says so too
	Moved    State = "moved"    // Key is a chat that became the chat in Text
)

// Note is the record of a message.
type Note struct {
	ID    string `json:"id"`
	Key   string `json:"key"`           // of its conversation
	Seq   int    `json:"seq,omitempty"` // of its turn
	State State  `json:"state"`
	Text  string `json:"text,omitempty"` // what came of it, in words

	Command string `json:"command,omitempty"` // of a chat, which is carried out after earlier messages; or a message behind it
	Context string `json:"context,omitempty"` // of that message

	Parts    []string `json:"parts,omitempty"`    // the ids of the parts of one that has several
	Messages []Number `json:"messages,omitempty"` // the numbers of its parts in the chat
	Said     string   `json:"said,omitempty"`     // the [SumOf] its text

	Growing Number `json:"growing,omitempty"`  // the chat's message in which its answer grows
	GrowsIn Number `json:"grows_in,omitempty"` // the chat of that message
	Told    int    `json:"told,omitempty"`     // how many messages of its answer were told

	Post *Post `json:"post,omitempty"` // what the message says, if it is about an agent; Growing is its number

	Untold string    `json:"untold,omitempty"` // why its answer was not told, or not all of it
	Held   string    `json:"held,omitempty"`   // class of the cause that holds it, once that was told
	At     time.Time `json:"at"`
}

// Drawer holds the notes of a project.
type Drawer struct {
	nbs *sealed.Folder

	changing sync.Mutex

	mu    sync.Mutex
	swept time.Time
}

// In returns the notes in the .nbs folder of a project.
func In(nbs *sealed.Folder) *Drawer { return &Drawer{nbs: nbs} }

// file is the content of a file.
type file struct {
	Note Note   `json:"note"`
	Seal string `json:"seal"`
}

func (f *file) Sealed(string) sealed.Over {
	return sealed.Over{Kind: "delivery", Place: Folder + "/" + fileOf(f.Note.ID), Content: f.Note, Field: "note", Seal: &f.Seal}
}

// Put writes a note, durably.
func (d *Drawer) Put(n Note) error {
	d.sweep(n.At)
	return d.nbs.Put(Folder, fileOf(n.ID), &file{Note: n}, fileLimit)
}

// Change changes the note of an id, durably. It does nothing if there is no note, or no change.
func (d *Drawer) Change(id string, how func(*Note)) error {
	return d.Update(id, func(n *Note, there bool) {
		if there {
			how(n)
		}
	})
}

// Update is Change, but how may also make the note of an id that has none.
func (d *Drawer) Update(id string, how func(n *Note, there bool)) error {
	d.changing.Lock()
	defer d.changing.Unlock()
	n, there, err := d.Get(id)
	if err != nil {
		return err
	}
	was := n
	if how(&n, there); reflect.DeepEqual(n, was) {
		return nil
	}
	return d.Put(n)
}

// Get returns the note of an id. there is false if it does not exist. Errors: as of [sealed.Folder.Refused].
func (d *Drawer) Get(id string) (n Note, there bool, err error) {
	n, err = d.read(fileOf(id))
	if errors.Is(err, fs.ErrNotExist) {
		return Note{}, false, nil
	}
	return n, err == nil, err
}

// Open returns the notes that are not finished, those of a conversation in the order of its turns. Beside an error
// for notes that cannot be read, it returns the others.
func (d *Drawer) Open() ([]Note, error) {
	return d.sorted(func(n Note) bool { return n.State != Over })
}

// Untold returns the notes of a conversation whose answers were not delivered, in the order of its turns. Errors: as
// of [Drawer.Open].
func (d *Drawer) Untold(key string) ([]Note, error) {
	return d.sorted(func(n Note) bool { return n.Key == key && n.Untold != "" })
}

// WithMessage returns the note of the message of a conversation that has a part with this number in the chat. If there are
// several, it is the latest: a group that became another chat counts its messages from 1. there is false if no such note is
// kept. Errors: as of [Drawer.Open].
func (d *Drawer) WithMessage(key string, number Number) (n Note, there bool, err error) {
	found, err := d.sorted(func(n Note) bool { return n.Key == key && slices.Contains(n.Messages, number) })
	if len(found) == 0 {
		return Note{}, false, err
	}
	return found[len(found)-1], true, nil
}

// SumOf returns the sum of a text.
func SumOf(text string) string { return string(private.SumOf([]byte(text))) }

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

// sweep removes the notes that were finished over a week ago, once a day.
func (d *Drawer) sweep(now time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if now.Sub(d.swept) < 24*time.Hour {
		return
	}
	d.swept = now
	all, _ := d.all() // a note that cannot be read is reported when it is needed
	for _, n := range all {
		if (n.State == Over || n.State == Gathered || n.State == Joined) && now.Sub(n.At) > Kept {
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
		"look at it, then remove it; a message may then be answered twice: rm "+human.ShellWord(d.nbs.Path(Folder, name)))
}

func fileOf(id string) string { return string(private.SumOf([]byte(id))) + ".json" }
