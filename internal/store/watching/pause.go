// Package watching keeps the state of automatic actions on agents: whether the user has paused them,
// and what the watch of a project has to remember.
//
//   - The pause is a file of .nbs with the user's seal, so that all that acts automatically sees it. One that
//     came with a project does not count; one that cannot be read does: an automatic actor asks before each action, and takes an error for a pause.
//   - The memory is in a folder of the user's outside of the project: no agent may decide by it who is
//     told what. It is written by the holder of the right to watch; the lock is the store's.
//
// The package knows files. It neither watches nor acts, and must not import what does.
package watching

import (
	"errors"
	"fmt"
	"io/fs"
	"time"

	"nbs-worker/internal/fail"
	"nbs-worker/internal/store/private"
	"nbs-worker/internal/store/sealed"
	"nbs-worker/internal/store/trust"
)

// Folder is where the pause is, below .nbs, and where the memories of the watches of all projects
// are, below the user's state folder.
const Folder = "watch"

// Watching is what is kept for one project.
type Watching struct {
	nbs      *sealed.Folder
	memories private.Tree
	memory   string // the name of the project's own
}

// In is what is kept in the .nbs folder of a project, and in the folder of all memories for the
// project of this hash.
func In(nbs *sealed.Folder, memories private.Tree, hash string) *Watching {
	return &Watching{nbs: nbs, memories: memories, memory: hash + ".json"}
}

// Pause is the user's order that nothing is done to the agents of the project automatically.
type Pause struct {
	Since  time.Time `json:"since"`
	Reason string    `json:"reason,omitempty"`
	By     string    `json:"by,omitempty"` // the agent that paused it, in words; "": a person
}

// Words are why the project is paused, and by which agent; "" when neither is known.
func (p *Pause) Words() string {
	switch {
	case p.By == "":
		return p.Reason
	case p.Reason == "":
		return "by " + p.By
	}
	return "by " + p.By + ": " + p.Reason
}

const (
	pauseFile  = "paused.json"
	pauseLimit = 1 << 14 // bytes
)

// sealedPause is the content of the file.
type sealedPause struct {
	Pause
	Seal string `json:"seal"`
}

func (p *sealedPause) Sealed(string) sealed.Over { // wherever the project is: it may be moved while it is paused
	return sealed.Over{Kind: "pause", Content: p.Pause, Seal: &p.Seal}
}

// Paused is the pause of the project; nil for none, and for one that came with the project. An automatic actor asks
// before each action, and takes an error for a pause: it names the file and the remedy.
func (w *Watching) Paused() (*Pause, error) {
	var kept sealedPause
	switch err := w.nbs.Get(Folder, pauseFile, &kept, pauseLimit); {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, trust.ErrSeal):
		return nil, nil
	case err != nil:
		return nil, fail.Errorf(fail.BadInput, "%s cannot be read, which counts as a pause: %w", w.nbs.Label(Folder+"/"+pauseFile), err).
			Hint("to end the pause: nbs-worker unpause")
	}
	return &kept.Pause, nil
}

// IsForeign reports if there is a pause that does not count: without the user's seal, as one that came with the project.
func (w *Watching) IsForeign() bool {
	pause, err := w.Paused()
	if pause != nil || err != nil {
		return false
	}
	_, err = w.nbs.Read(Folder, pauseFile, pauseLimit)
	return err == nil
}

// SetPause pauses the project, durably.
func (w *Watching) SetPause(pause Pause) error {
	return w.nbs.Put(Folder, pauseFile, &sealedPause{Pause: pause}, pauseLimit)
}

// EndPause ends the pause, also one that cannot be read or does not count. It reports if there was a file.
func (w *Watching) EndPause() (was bool, err error) {
	err = w.nbs.Delete(Folder, pauseFile)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("remove %s: %w", w.nbs.Label(Folder+"/"+pauseFile), err)
	}
	return true, nil
}

// PauseFile is the absolute path of the mark of a pause.
func (w *Watching) PauseFile() string { return w.nbs.Path(Folder, pauseFile) }
