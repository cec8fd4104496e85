// Package costs keeps what agents have spent, below .nbs/costs: a ledger for each agent, and one for each agent that was
// dismissed. A ledger is made of the totals that Claude's status line shows.
//
//   - A file is replaced whole and durably, and only when a total has changed. Its writer holds its lock, and takes no
//     other. A reader takes none.
//   - The status line of an agent writes it, with the agent's rights, and without a seal: a ledger is an account, and no
//     barrier against an agent that forges it.
//   - A damaged file is an error that names the file and the remedy.
package costs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
	"nbs-worker/internal/store/private"
)

// Folder is the folder of the ledgers, below .nbs.
const Folder = "costs"

const (
	fileLimit = 1 << 20 // bytes: some decades
	suffix    = ".json"
)

// Drawer has the ledgers of a project.
type Drawer struct {
	nbs     *private.Folder
	prepare func() error
}

// In returns the ledgers in the .nbs folder of a project. prepare makes what is missing there.
func In(nbs *private.Folder, prepare func() error) *Drawer { return &Drawer{nbs, prepare} }

// Take adds to an agent's ledger what was spent since the last reading. It returns that, and the ledger.
func (d *Drawer) Take(ctx context.Context, handle agent.Handle, r Reading) (spent float64, l Ledger, err error) {
	if l, err = d.Of(handle); err != nil || l.has(r) {
		return 0, l, err
	}
	err = d.change(ctx, func() error {
		if l, err = d.Of(handle); err != nil {
			return err
		}
		l.Handle, spent = handle, l.Take(r)
		return d.nbs.WriteJSON(Folder, fileOf(handle), l, fileLimit)
	}, handle)
	return spent, l, err
}

// Of returns the ledger of an agent; an empty one if it has spent nothing yet.
func (d *Drawer) Of(handle agent.Handle) (Ledger, error) {
	l, err := d.read(fileOf(handle))
	if errors.Is(err, fs.ErrNotExist) {
		return Ledger{Handle: handle}, nil
	}
	return l, err
}

func (d *Drawer) read(name string) (l Ledger, err error) {
	data, err := d.nbs.Read(Folder, name, fileLimit)
	if errors.Is(err, fs.ErrNotExist) {
		return l, err
	}
	if err == nil {
		err = json.Unmarshal(data, &l)
	}
	if err == nil {
		err = l.check()
	}
	if err != nil {
		path := d.nbs.Path(Folder, name)
		return Ledger{}, fail.Errorf(fail.BadInput, "read %s: %w", path, err).
			Hint("look at it, then remove it; what the agent has spent until now is then not counted: rm %s", human.ShellWord(path))
	}
	if key, _, _ := strings.Cut(strings.TrimSuffix(name, suffix), "."); l.Handle.Key() != key { // its agent was renamed
		l.Handle = agent.Handle(key)
	}
	return l, nil
}

// check refuses what no writer of ours has written.
func (l *Ledger) check() error {
	if _, err := agent.ParseHandle(string(l.Handle)); err != nil {
		return err
	}
	before := time.Time{}
	for _, e := range l.Expenses {
		if e.USD < 0 || math.IsInf(e.USD, 0) || !e.At.After(before) && !before.IsZero() {
			return errors.New("it is not a ledger")
		}
		before = e.At
	}
	return nil
}

// Kept is a ledger of the project.
type Kept struct {
	Ledger

	Closed bool  // its agent was dismissed
	Err    error // why it could not be read; then only Handle is known
}

// All returns all ledgers, ordered by handle.
func (d *Drawer) All() ([]Kept, error) {
	names, err := d.nbs.Names(Folder)
	if err = private.IfThere(err); err != nil {
		return nil, err
	}
	slices.Sort(names)
	var all []Kept
	for _, name := range names {
		stem, isJSON := strings.CutSuffix(name, suffix)
		key, _, closed := strings.Cut(stem, ".")
		if _, err := agent.ParseHandle(key); !isJSON || err != nil {
			continue
		}
		l, err := d.read(name)
		if errors.Is(err, fs.ErrNotExist) { // just closed
			continue
		}
		if err != nil {
			l.Handle = agent.Handle(key)
		}
		all = append(all, Kept{Ledger: l, Closed: closed, Err: err})
	}
	return all, nil
}

// Close keeps the ledger of an agent that is dismissed, apart from that of the next agent of its handle.
func (d *Drawer) Close(ctx context.Context, handle agent.Handle, at time.Time) error {
	return d.change(ctx, func() error { return d.rename(fileOf(handle), closedFile(handle, at)) }, handle)
}

// Rename makes a ledger that of another handle. A ledger that is there already stays, closed.
func (d *Drawer) Rename(ctx context.Context, from, to agent.Handle, at time.Time) error {
	return d.change(ctx, func() error {
		if _, err := d.nbs.Stat(Folder + "/" + fileOf(from)); errors.Is(err, fs.ErrNotExist) {
			return nil // done before
		}
		return errors.Join(d.rename(fileOf(to), closedFile(to, at)), d.rename(fileOf(from), fileOf(to)))
	}, from, to)
}

func (d *Drawer) rename(from, to string) error {
	if err := private.IfThere(d.nbs.Rename(Folder+"/"+from, Folder+"/"+to)); err != nil {
		return d.nbs.Remedied(fmt.Errorf("rename %s/%s: %w", Folder, from, err))
	}
	return private.SyncPath(d.nbs.Path(Folder))
}

func (d *Drawer) change(ctx context.Context, change func() error, handles ...agent.Handle) error {
	if err := d.prepare(); err != nil {
		return err
	}
	for _, handle := range slices.SortedFunc(slices.Values(handles), func(a, b agent.Handle) int { return strings.Compare(a.Key(), b.Key()) }) {
		unlock, err := d.nbs.Lock(ctx, handle.Key()+".costs")
		if err != nil {
			return err
		}
		defer unlock()
	}
	return change()
}

func fileOf(handle agent.Handle) string { return handle.Key() + suffix }

func closedFile(handle agent.Handle, at time.Time) string {
	return handle.Key() + "." + strconv.FormatInt(at.UnixMilli(), 10) + suffix
}
