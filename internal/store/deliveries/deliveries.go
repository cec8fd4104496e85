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
	"encoding/json"
	"errors"
	"io/fs"
	"slices"
	"strings"
	"sync"
	"time"

	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
	"nbs-worker/internal/store/private"
	"nbs-worker/internal/store/trust"
)

// Folder is where the notes are, below .nbs.
const Folder = "deliveries"

const (
	sealKind  = "delivery"
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
	nbs     *private.Folder
	keeper  *trust.Keeper // nil: nothing can be sealed, and nothing counts
	project string
	prepare func() error // makes what is missing in .nbs

	mu    sync.Mutex
	swept time.Time
}

// In is the notes in the .nbs folder of a project.
func In(nbs *private.Folder, keeper *trust.Keeper, project string, prepare func() error) *Drawer {
	return &Drawer{nbs: nbs, keeper: keeper, project: project, prepare: prepare}
}

// sealed is the content of a file.
type sealed struct {
	Note Note   `json:"note"`
	Seal string `json:"seal"`
}

// Put writes a note, durably.
func (d *Drawer) Put(n Note) error {
	if err := d.make(); err != nil {
		return err
	}
	d.sweep(n.At)
	seal, err := d.keeper.SealAt(sealKind, d.project, Folder+"/"+fileOf(n.ID), n)
	if err != nil {
		return err
	}
	return d.nbs.WriteJSON(Folder, fileOf(n.ID), sealed{n, seal}, fileLimit)
}

// make makes the folder.
func (d *Drawer) make() error {
	if err := d.prepare(); err != nil {
		return err
	}
	switch err := d.nbs.Mkdir(Folder, 0o700); {
	case err == nil:
		return d.nbs.Sync()
	case errors.Is(err, fs.ErrExist):
		return private.Check(d.nbs.Path(Folder))
	default:
		return d.nbs.Remedied(err)
	}
}

// Get is the note of an id; there is false when there is none. Errors: Held when nobody vouches for it; Failed when
// it is damaged; Unfit when the key cannot be used; Failed when the key cannot be read now.
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
	if !d.nbs.Made() {
		return nil, nil
	}
	names, err := d.nbs.Names(Folder)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
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
	data, err := d.nbs.Read(Folder, name, fileLimit)
	if err != nil {
		return Note{}, err
	}
	remedy := "look at what it is; without it a message may be answered twice: rm " + human.ShellWord(d.nbs.Path(Folder, name))
	var read sealed
	if err := json.Unmarshal(data, &read); err != nil {
		return Note{}, fail.Errorf(fail.Failed, "%s is damaged: %w", d.nbs.Label(Folder+"/"+name), err).Hint("%s", remedy)
	}
	err = d.keeper.CheckAt(sealKind, d.project, Folder+"/"+fileOf(read.Note.ID), read.Note, read.Seal)
	if errors.Is(err, trust.ErrSeal) || err == nil && fileOf(read.Note.ID) != name {
		return Note{}, fail.Errorf(fail.Held, "%s is not as a command of this user wrote it here", d.nbs.Label(Folder+"/"+name)).HintsOf(err).Hint("%s", remedy)
	}
	return read.Note, err
}

func fileOf(id string) string { return string(private.SumOf([]byte(id))) + ".json" }
