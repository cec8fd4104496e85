package store

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"time"

	"nbs-worker/internal/agent"
)

// runs holds how far runbooks came that did not come to their end.
const runs = "runs"

// Run is how far a run of a runbook came.
type Run struct {
	Runbook string    `json:"runbook"`
	Step    string    `json:"step"`
	State   RunState  `json:"state"`
	Code    int       `json:"code,omitempty"` // with which the step failed
	At      time.Time `json:"at"`
}

// RunState is what became of the last step of a run.
type RunState string

// The states of a step. One that is at work in a run that nobody leads any more was interrupted.
const (
	RunAtWork RunState = "at work"
	RunDone   RunState = "done"
	RunFailed RunState = "failed"
	RunAsks   RunState = "asks" // a person is to decide before the next step
)

// LockRun takes the right to lead a run, named by its key. It does not wait. Errors: Conflict,
// naming the holder.
func (s *Store) LockRun(key string, name agent.Handle, now time.Time) (unlock func(), err error) {
	if err := s.prepare(); err != nil {
		return nil, err
	}
	return s.tryLock(key+".run", Holder{PID: os.Getpid(), Verb: "runbook", Handle: name, Since: now}, func(by string) error {
		return agent.Errorf(agent.Conflict, "it is being run already: %s", by).Hint("see what it does: nbs-worker events --follow")
	})
}

// PutRun writes down how far a run came, durably.
func (s *Store) PutRun(key string, run Run) error {
	return s.nbs.WriteJSON(runs, key+".json", run, fileLimit)
}

// LoadRun tells how far a run came; nil when there is none that did not come to its end.
func (s *Store) LoadRun(key string) (*Run, error) {
	data, err := s.nbs.Read(runs, key+".json", fileLimit)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var run Run
	if err := json.Unmarshal(data, &run); err != nil {
		path := s.nbs.Path(runs, key+".json")
		return nil, agent.Errorf(agent.Failed, "%s is damaged: %w", agent.Quote(path), err).
			Hint("the journal tells how far the run came: nbs-worker events -n 20; then remove it: rm %s", agent.ShellWord(path))
	}
	return &run, nil
}

// DropRun forgets a run that came to its end.
func (s *Store) DropRun(key string) error {
	err := s.nbs.Delete(runs, key+".json")
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
