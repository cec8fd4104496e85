// Package runs records the progress of agent repairs and of runbook runs, in .nbs/runs, so that the
// next one knows what a killed one has left.
//
//   - The holder of the right to repair, or to lead the run, writes it durably; the locks are the
//     store's. Any process may read it.
//   - An attempt is a hint for the next repair; the agent's observed state decides. An attempt says
//     what was permitted, so it counts only with the user's seal, and a damaged one does not count.
//
// The package knows files and seals. It neither repairs nor runs, and must not import what does.
package runs

import (
	"encoding/json"
	"errors"
	"io/fs"
	"time"

	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
	"nbs-worker/internal/store/private"
	"nbs-worker/internal/store/sealed"
)

// Folder is where they are, below .nbs.
const Folder = "runs"

const fileLimit = 1 << 20 // bytes

// Runs are the records of one project.
type Runs struct{ nbs *sealed.Folder }

// In returns the records in the .nbs folder of a project.
func In(nbs *sealed.Folder) *Runs { return &Runs{nbs} }

// Run is the progress of a run of a runbook.
type Run struct {
	Runbook string    `json:"runbook"`
	Step    string    `json:"step"`
	State   State     `json:"state"`
	Code    int       `json:"code,omitempty"` // with which the step failed
	At      time.Time `json:"at"`
}

// State is the state of the last step of a run.
type State string

// The states of a step. A step [AtWork] in a run without a leader was interrupted.
const (
	AtWork State = "at work"
	Done   State = "done"
	Failed State = "failed"
	Asks   State = "asks" // a person is to decide before the next step
)

// Put records the progress of a run, durably.
func (r *Runs) Put(key string, run Run) error {
	return r.nbs.WriteJSON(Folder, key+".json", run, fileLimit)
}

// Load returns the progress of a run, or nil if no run is unfinished.
func (r *Runs) Load(key string) (*Run, error) {
	data, err := r.nbs.Read(Folder, key+".json", fileLimit)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var run Run
	if err := json.Unmarshal(data, &run); err != nil {
		path := r.nbs.Path(Folder, key+".json")
		return nil, fail.Errorf(fail.Failed, "%s is damaged: %w", human.Quote(path), err).
			Hint("to see how far the run came: nbs-worker events -n 20; then remove the file: rm %s", human.ShellWord(path))
	}
	return &run, nil
}

// Drop removes the record of a finished run.
func (r *Runs) Drop(key string) error {
	return private.IfThere(r.nbs.Delete(Folder, key+".json"))
}
