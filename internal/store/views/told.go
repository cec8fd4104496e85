package views

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"

	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
	"nbs-worker/internal/store/private"
	"nbs-worker/internal/store/trust"
)

// Told is what watch --hosts has told its user. One process has it at a time.
type Told struct {
	tree private.Tree
	lock *os.File
}

const (
	toldFile  = "state.json"
	toldLimit = 4 << 20 // bytes
)

// TakeTold takes what was told. The caller closes it. Errors: Conflict when another process has it.
func TakeTold(home trust.Home) (*Told, error) {
	t := &Told{tree: private.Tree(home.Path("watch-hosts"))}
	lock, err := t.tree.TryLock("lock")
	if err == nil && lock == nil {
		err = fail.Errorf(fail.Conflict, "another command watches your hosts").Hint("to see which: lslocks --output PID,COMMAND,PATH")
	}
	t.lock = lock
	return t, err
}

// Close lets another process have it.
func (t *Told) Close() { _ = t.lock.Close() }

// Load reads it; a first time leaves it as it is.
func (t *Told) Load(into any) error {
	text, err := t.tree.Read(toldFile, toldLimit)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if err := json.Unmarshal(text, into); err != nil {
		path := t.tree.Path(toldFile)
		return fail.Errorf(fail.Failed, "%s is damaged: %w", human.Quote(path), err).
			Hint("move it away, then all is told once more: %s", private.MoveTo(path, ".broken"))
	}
	return nil
}

// Save replaces it.
func (t *Told) Save(told any) error { return t.tree.HandOver(toldFile, told, toldLimit) }
