// Package watching keeps the state of automatic actions on agents: whether the user has paused them,
// and what the watch of a project has to remember.
//
//   - The pause is a file of .nbs, so that all that acts automatically sees it. One that cannot be read
//     counts: an automatic actor asks before each action, and takes an error for a pause.
//   - The memory is in a folder of the user's outside of the project: no agent may decide by it who is
//     told what. It is written by the holder of the right to watch; the lock is the store's.
//
// The package knows files. It neither watches nor acts, and must not import what does.
package watching

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/store/private"
)

// Folder is where the pause is, below .nbs, and where the memories of the watches of all projects
// are, below the user's state folder.
const Folder = "watch"

// Watching is what is kept for one project.
type Watching struct {
	nbs      *private.Folder
	memories private.Tree
	memory   string       // the name of the project's own
	prepare  func() error // makes what is missing in .nbs
}

// In is what is kept in the .nbs folder of a project, and in the folder of all memories for the
// project of this hash.
func In(nbs *private.Folder, memories private.Tree, hash string, prepare func() error) *Watching {
	return &Watching{nbs: nbs, memories: memories, memory: hash + ".json", prepare: prepare}
}

// Pause is the user's order that nothing is done to the agents of the project automatically.
type Pause struct {
	Since  time.Time `json:"since"`
	Reason string    `json:"reason,omitempty"`
}

const (
	pauseFile  = "paused.json"
	pauseLimit = 1 << 14 // bytes
)

// Paused is the pause of the project; nil for none. An automatic actor asks before each action,
// and takes an error for a pause: it names the file and the remedy.
func (w *Watching) Paused() (*Pause, error) {
	data, err := w.nbs.Read(Folder, pauseFile, pauseLimit)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	pause := &Pause{}
	if err == nil {
		err = json.Unmarshal(data, pause)
	}
	if err != nil {
		return nil, agent.Errorf(agent.BadInput, "%s cannot be read, which counts as a pause: %w", w.nbs.Label(Folder+"/"+pauseFile), err).
			Hint("to end the pause: nbs-worker unpause")
	}
	return pause, nil
}

// SetPause pauses the project, durably.
func (w *Watching) SetPause(pause Pause) error {
	if err := w.prepare(); err != nil {
		return err
	}
	return w.nbs.WriteJSON(Folder, pauseFile, pause, pauseLimit)
}

// EndPause ends the pause, also one that cannot be read, and tells whether there was one.
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
