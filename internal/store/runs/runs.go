// Package runs keeps how far repairs of agents and runs of runbooks came, in .nbs/runs, so that the
// next one knows what a killed one has left.
//
//   - It is written durably, by who has the right to repair or to lead that run; the locks are the
//     store's. It is read by anyone.
//   - An attempt helps who repairs next, and what is seen of the agent decides. It says what was
//     permitted, so it counts with the user's seal; a damaged one is none.
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

// Runs is what is kept of one project.
type Runs struct{ nbs *sealed.Folder }

// In is what is kept in the .nbs folder of a project.
func In(nbs *sealed.Folder) *Runs { return &Runs{nbs} }

// Run is how far a run of a runbook came.
type Run struct {
	Runbook string    `json:"runbook"`
	Step    string    `json:"step"`
	State   State     `json:"state"`
	Code    int       `json:"code,omitempty"` // with which the step failed
	At      time.Time `json:"at"`
}

// State is what became of the last step of a run.
type State string

// The states of a step. One that is at work in a run that nobody leads any more was interrupted.
const (
	AtWork State = "at work"
	Done   State = "done"
	Failed State = "failed"
	Asks   State = "asks" // a person is to decide before the next step
)

// Put writes down how far a run came, durably.
func (r *Runs) Put(key string, run Run) error {
	return r.nbs.WriteJSON(Folder, key+".json", run, fileLimit)
}

// Load tells how far a run came; nil when there is no unfinished one.
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
			Hint("the journal tells how far the run came: nbs-worker events -n 20; then remove it: rm %s", human.ShellWord(path))
	}
	return &run, nil
}

// Drop forgets a run that came to its end.
func (r *Runs) Drop(key string) error {
	return private.IfThere(r.nbs.Delete(Folder, key+".json"))
}
