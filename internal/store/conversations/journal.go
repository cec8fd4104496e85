package conversations

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
	"nbs-worker/internal/store/private"
)

const (
	journalFile = "journal.jsonl"
	metaFile    = "meta.json"
	results     = "results"

	fileLimit    = 8 << 20  // bytes; a text has at most one million, and each may be escaped
	journalLimit = 64 << 20 // bytes
	compactAbove = 32 << 10 // bytes; to fold as many takes about half a millisecond
	resultsKept  = 30 * 24 * time.Hour
)

// owner is what meta.json says: whose folder it is.
type owner struct {
	Key     Key       `json:"key"`
	Created time.Time `json:"created"`
}

// folded is a journal that was read.
type folded struct {
	State

	last  string // seal of its last line; "": there is none
	first int64  // bytes of its first line
	size  int64  // bytes of its whole lines
	lines []Line // only when they are asked for
}

// State is what the conversation has come to. Errors: [fs.ErrNotExist] when there is none; Held and
// Failed when the journal is not as it was written.
func (c *Conversation) State() (State, error) {
	f, err := c.look(false)
	return f.State, err
}

// Journal is all that the journal tells, in order; it begins with a base when what was before was folded
// into one. Errors: as of State.
func (c *Conversation) Journal() ([]Line, error) {
	f, err := c.look(true)
	return f.lines, err
}

// look reads the journal. It may look damaged while a writer cuts off what another has not finished,
// so it is then read again when nobody writes.
//
//nolint:contextcheck,nolintlint // who only looks has no context, and waits for milliseconds; the one acts on it, the other does not see that
func (c *Conversation) look(lines bool) (folded, error) {
	f, err := c.fold(lines)
	if err == nil || errors.Is(err, fs.ErrNotExist) || !c.nbs.Made() {
		return f, err
	}
	unlock, lockErr := c.lock(context.Background())
	if lockErr != nil {
		return folded{}, err
	}
	defer unlock()
	return c.fold(lines)
}

func (c *Conversation) lock(ctx context.Context) (unlock func(), err error) {
	return c.nbs.Lock(ctx, c.hash+".journal")
}

// fold reads the journal as it is. Errors: [fs.ErrNotExist] when nothing was accepted yet.
func (c *Conversation) fold(lines bool) (folded, error) {
	text, err := c.nbs.Read(c.sub, journalFile, journalLimit)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return folded{}, c.nbs.Refused(c.sub+"/"+journalFile, "", err, "look at what it is: ls -l "+human.ShellWord(c.nbs.Path(c.sub, journalFile)))
	}
	f, err := c.parse(text, lines)
	if err != nil {
		return folded{}, err
	}
	if f.last == "" {
		return folded{}, c.nothing()
	}
	return f, nil
}

// nothing returns why a journal is empty: nothing was accepted, or it is gone.
func (c *Conversation) nothing() error {
	if !c.nbs.Made() {
		return fs.ErrNotExist
	}
	_, err := c.nbs.Lstat(c.sub + "/" + metaFile)
	if err != nil {
		return err
	}
	return fail.Errorf(fail.Failed, "%s is gone or empty, and the conversation had one", c.nbs.Label(c.sub+"/"+journalFile)).
		Hint("put it back, or begin anew: %s", private.MoveTo(c.Path(), ".aside"))
}

// parse folds the text of a journal. What is behind the last line break was not finished.
func (c *Conversation) parse(text []byte, lines bool) (folded, error) {
	var f folded
	for number := 1; ; number++ {
		end := bytes.IndexByte(text[f.size:], '\n')
		if end < 0 {
			return f, nil
		}
		var line Line
		seal, err := c.unseal(c.linePlace(f.last), text[f.size:f.size+int64(end)], &line)
		if err == nil {
			err = f.apply(&line)
		}
		if err != nil {
			return folded{}, c.nbs.Refused(c.sub+"/"+journalFile, fmt.Sprintf(", line %d,", number), err,
				"look at it; to begin anew, and keep what is there: "+private.MoveTo(c.Path(), ".aside"))
		}
		f.last = seal
		f.size += int64(end) + 1
		if number == 1 {
			f.first = f.size
		}
		if lines {
			f.lines = append(f.lines, line)
		}
	}
}

// linePlace is where a line stands: behind the one with this seal.
func (c *Conversation) linePlace(last string) string { return c.sub + "/" + journalFile + " " + last }

// change appends a line to the journal, durably: the one that follow makes from the state. When follow
// returns no line, nothing changes. Errors: [fs.ErrNotExist] when there is no conversation.
func (c *Conversation) change(ctx context.Context, follow func(s *State) (*Line, error)) error {
	return c.locked(ctx, func(w *writer) error {
		if w.last == "" {
			return fs.ErrNotExist
		}
		line, err := follow(&w.State)
		if err != nil || line == nil {
			return err
		}
		return w.append(line)
	})
}

// writer holds the lock of the journal.
type writer struct {
	folded

	c    *Conversation
	file *os.File
}

// locked does something with the journal, under its lock.
func (c *Conversation) locked(ctx context.Context, do func(w *writer) error) error {
	if !c.nbs.Made() {
		return fs.ErrNotExist
	}
	unlock, err := c.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	f, err := c.fold(false)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	w := &writer{folded: f, c: c}
	defer func() { w.close() }()
	return do(w)
}

func (w *writer) close() {
	if w.file != nil {
		_ = w.file.Close() // what counts was synced
	}
}

// append adds a line, durably, and folds it. A line that could not be written whole is taken back. After an error the
// writer is of no more use.
func (w *writer) append(line *Line) error {
	c := w.c
	if err := w.apply(line); err != nil {
		return fail.Errorf(fail.Conflict, "%w", err)
	}
	text, seal, err := c.seal(c.linePlace(w.last), line)
	if err != nil {
		return err
	}
	if err := w.openFile(); err != nil {
		return c.failed("open", err)
	}
	if err := w.put(append(text, '\n')); err != nil {
		return c.failed("write", err)
	}
	first := w.last == ""
	w.last, w.size = seal, w.size+int64(len(text))+1
	if first {
		if err := c.syncFolders(); err != nil {
			return err
		}
	}
	c.writeMeta(w.Meta)
	w.compact(line.At)
	return nil
}

func (w *writer) openFile() (err error) {
	if w.file == nil {
		w.file, err = w.c.nbs.OpenRegular(w.c.sub+"/"+journalFile, os.O_APPEND|os.O_WRONLY|os.O_CREATE)
	}
	return err
}

// put writes behind the whole lines.
func (w *writer) put(text []byte) error {
	info, err := w.file.Stat()
	if err == nil && info.Size() != w.size { // what was not finished
		err = w.file.Truncate(w.size)
	}
	if err != nil {
		return err
	}
	_, err = w.file.Write(text)
	if err = errors.Join(err, w.file.Sync()); err != nil {
		_ = w.file.Truncate(w.size) // else it may count later, and its writer was told that it does not
	}
	return err
}

func (c *Conversation) failed(verb string, err error) error {
	return c.nbs.Remedied(fmt.Errorf("%s %s: %w", verb, c.nbs.Label(c.sub+"/"+journalFile), err))
}

// make makes the folders of a conversation.
func (c *Conversation) make() error {
	if err := c.nbs.Prepare(); err != nil {
		return err
	}
	for _, name := range []string{Folder, pendingFolder, c.sub, c.sub + "/" + results} {
		if err := c.nbs.Mkdir(name, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
			return c.nbs.Remedied(fmt.Errorf("make %s: %w", c.nbs.Label(name), err))
		}
	}
	return nil
}

// syncFolders makes durable that there is a conversation.
func (c *Conversation) syncFolders() error {
	for _, path := range []string{c.Path(), c.nbs.Path(Folder), c.nbs.Path(), c.nbs.Project} {
		if err := private.SyncPath(path); err != nil {
			return fmt.Errorf("%s is written, but may not survive a power cut: %w", c.nbs.Label(c.sub), err)
		}
	}
	return nil
}

// writeMeta says whose folder it is, once. What fails here is tried again with the next line: this one is
// written, and its writer must not be told otherwise.
func (c *Conversation) writeMeta(meta Meta) {
	if _, err := c.nbs.Lstat(c.sub + "/" + metaFile); errors.Is(err, fs.ErrNotExist) {
		_ = c.write(c.sub, metaFile, owner{meta.Key, meta.Created})
	}
}

// compact replaces a long journal by one line, and forgets old results. The writer's own line is
// written already: what fails here is tried again with the next one.
func (w *writer) compact(now time.Time) {
	c := w.c
	if w.size <= c.compactAbove || w.size <= 2*w.first { // a line of the state alone may be as long again
		return
	}
	text, _, err := c.seal(c.linePlace(""), &Line{What: Base, At: now, State: &w.State})
	if err != nil || c.nbs.Write(c.sub, journalFile, append(text, '\n')) != nil {
		return
	}
	c.nbs.Sweep(c.sub+"/"+results, now, func(_ string, age time.Duration) bool { return age > resultsKept })
}
