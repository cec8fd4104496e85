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

// owner is the content of meta.json: the key of the folder.
type owner struct {
	Key     Key       `json:"key"`
	Created time.Time `json:"created"`
}

// folded is the content of a journal.
type folded struct {
	State

	last  string // seal of its last line, or ""
	first int64  // bytes of its first line
	size  int64  // bytes of its whole lines
	lines []Line // only when they are asked for
}

// State returns the state of the conversation. Errors: [fs.ErrNotExist] when it does not exist; Held and Failed when
// the journal was changed or damaged.
func (c *Conversation) State() (State, error) {
	f, err := c.look(false)
	return f.State, err
}

// Journal returns all lines of the journal in order. It begins with a base if earlier lines were folded into one.
// Errors: as of State.
func (c *Conversation) Journal() ([]Line, error) {
	f, err := c.look(true)
	return f.lines, err
}

// look reads the journal. It may look damaged while a writer cuts off an unfinished line,
// so it is then read again under the lock.
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

// fold reads the journal without a lock. Errors: [fs.ErrNotExist] when nothing was accepted yet.
func (c *Conversation) fold(lines bool) (folded, error) {
	text, err := c.nbs.Read(c.sub, journalFile, journalLimit)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return folded{}, c.nbs.Refused(c.sub+"/"+journalFile, "", err, "look at it: ls -l "+human.ShellWord(c.nbs.Path(c.sub, journalFile)))
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

// nothing returns the error for an empty journal: nothing was accepted, or the journal is gone.
func (c *Conversation) nothing() error {
	if !c.nbs.Made() {
		return fs.ErrNotExist
	}
	_, err := c.nbs.Lstat(c.sub + "/" + metaFile)
	if err != nil {
		return err
	}
	return fail.Errorf(fail.Failed, "%s is missing or empty", c.nbs.Label(c.sub+"/"+journalFile)).
		Hint("put it back from a backup; or start again with an empty conversation: %s", private.MoveTo(c.Path(), ".aside"))
}

// parse folds the text of a journal. Text behind the last line break was not finished.
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
				"look at it; or start again with an empty conversation, and keep the old files: "+private.MoveTo(c.Path(), ".aside"))
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

// linePlace returns the place of a line: behind the one with this seal.
func (c *Conversation) linePlace(last string) string { return c.sub + "/" + journalFile + " " + last }

// change appends a line to the journal, durably: the one that follow returns for the state. If follow returns nil,
// nothing changes. Errors: [fs.ErrNotExist] when there is no conversation.
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

// locked calls do under the lock of the journal.
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

// append writes a line, durably, and folds it. It takes back a line that it could not write whole. After an error the
// writer must not be used again.
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
	if err == nil && info.Size() != w.size { // there is an unfinished line
		err = w.file.Truncate(w.size)
	}
	if err != nil {
		return err
	}
	_, err = w.file.Write(text)
	if err = errors.Join(err, w.file.Sync()); err != nil {
		_ = w.file.Truncate(w.size) // a line that stayed could count later, although its writer got an error
	}
	return err
}

func (c *Conversation) failed(verb string, err error) error {
	return c.nbs.Remedied(fmt.Errorf("%s %s: %w", verb, c.nbs.Label(c.sub+"/"+journalFile), err))
}

// make creates the folders of a conversation.
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

// syncFolders makes the folders of the conversation durable.
func (c *Conversation) syncFolders() error {
	for _, path := range []string{c.Path(), c.nbs.Path(Folder), c.nbs.Path(), c.nbs.Project} {
		if err := private.SyncPath(path); err != nil {
			return fmt.Errorf("%s is written, but may not survive a power cut: %w", c.nbs.Label(c.sub), err)
		}
	}
	return nil
}

// writeMeta writes meta.json, once. An error here is ignored: the line is written, so its writer must not get an
// error, and the next line tries again.
func (c *Conversation) writeMeta(meta Meta) {
	if _, err := c.nbs.Lstat(c.sub + "/" + metaFile); errors.Is(err, fs.ErrNotExist) {
		_ = c.write(c.sub, metaFile, owner{meta.Key, meta.Created})
	}
}

// compact replaces a long journal by one line, and removes old results. An error here is ignored: the writer's own
// line is written, and the next line tries again.
func (w *writer) compact(now time.Time) {
	c := w.c
	if w.size <= c.compactAbove || w.size <= 2*w.first { // the line of the state alone may be just as long
		return
	}
	text, _, err := c.seal(c.linePlace(""), &Line{What: Base, At: now, State: &w.State})
	if err != nil || c.nbs.Write(c.sub, journalFile, append(text, '\n')) != nil {
		return
	}
	c.nbs.Sweep(c.sub+"/"+results, now, func(_ string, age time.Duration) bool { return age > resultsKept })
	if len(w.Open) == 0 { // an open turn may name any of them
		c.nbs.Sweep(c.sub+"/"+filesFolder, now, func(_ string, age time.Duration) bool { return age > resultsKept })
	}
}
