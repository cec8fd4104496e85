// Package watching keeps the state of automatic actions on agents: whether the user has paused them,
// and what the watch of a project has to remember.
//
//   - The pause is a file of .nbs with the user's seal, so that every automatic actor sees it. A pause that
//     came with the project does not count. A pause that cannot be read counts: an automatic actor asks
//     before each action, and treats an error as a pause.
//   - The memory is in a folder of the user outside of the project: no agent may use it to decide who gets
//     which message. The holder of the right to watch writes it; the lock is the store's.
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

// Folder is the folder of the pause, below .nbs, and the folder of all projects' watch memories, below the user's
// state folder.
const Folder = "watch"

// Watching holds the pause and the watch memory of one project.
type Watching struct {
	nbs      *sealed.Folder
	memories private.Tree
	memory   string // the name of the project's own
}

// In returns the pause in the .nbs folder of a project, and the project's memory in the folder of all memories, by
// its hash.
func In(nbs *sealed.Folder, memories private.Tree, hash string) *Watching {
	return &Watching{nbs: nbs, memories: memories, memory: hash + ".json"}
}

// Pause is the user's order to stop all automatic actions on the project's agents.
type Pause struct {
	Since  time.Time `json:"since"`
	Reason string    `json:"reason,omitempty"`
	By     string    `json:"by,omitempty"` // the agent that paused it, in words; "": a person
}

// Words returns why the project is paused, and by which agent, or "" if neither is known.
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

// Paused returns the pause of the project. It is nil if there is no pause, or if the pause came with the project. An
// automatic actor asks before each action, and treats an error as a pause: the error names the file and the remedy.
func (w *Watching) Paused() (*Pause, error) {
	var kept sealedPause
	switch err := w.nbs.Get(Folder, pauseFile, &kept, pauseLimit); {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, trust.ErrSeal):
		return nil, nil
	case err != nil:
		return nil, fail.Errorf(fail.BadInput, "%s cannot be read, so the project counts as paused: %w", w.nbs.Label(Folder+"/"+pauseFile), err).
			Hint("to end the pause: nbs-worker unpause")
	}
	return &kept.Pause, nil
}

// IsForeign reports whether there is a pause that does not count: it lacks the user's seal, for example because it
// came with the project.
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

// EndPause ends the pause, also one that cannot be read or does not count. was reports whether there was a file.
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

// PauseFile returns the absolute path of the pause file.
func (w *Watching) PauseFile() string { return w.nbs.Path(Folder, pauseFile) }
