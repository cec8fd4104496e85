package store

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"nbs-worker/internal/agent"
)

// Pause is the user's word that nothing is to be done to the agents of the project by itself.
type Pause struct {
	Since  time.Time `json:"since"`
	Reason string    `json:"reason,omitempty"`
}

const (
	watching   = "watch" // what is done to agents by itself, and whether it may be
	pauseFile  = "paused.json"
	pauseLimit = 1 << 14 // bytes
)

// Paused is the pause of the project; nil for none. Who acts by itself asks before each action,
// and takes an error for a pause: it names the file and the remedy.
func (s *Store) Paused() (*Pause, error) {
	data, err := s.nbs.Read(watching, pauseFile, pauseLimit)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	pause := &Pause{}
	if err == nil {
		err = json.Unmarshal(data, pause)
	}
	if err != nil {
		return nil, agent.Errorf(agent.BadInput, "%s cannot be read, which counts as a pause: %w", s.nbs.Label(watching+"/"+pauseFile), err).
			Hint("to end the pause: nbs-worker unpause")
	}
	return pause, nil
}

// SetPause pauses the project, durably.
func (s *Store) SetPause(pause Pause) error {
	if err := s.prepare(); err != nil {
		return err
	}
	return s.nbs.WriteJSON(watching, pauseFile, pause, pauseLimit)
}

// EndPause ends the pause, also one that cannot be read, and tells whether there was one.
func (s *Store) EndPause() (was bool, err error) {
	err = s.nbs.Delete(watching, pauseFile)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("remove %s: %w", s.nbs.Label(watching+"/"+pauseFile), err)
	}
	return true, nil
}

// PauseFile is the absolute path of the mark of a pause.
func (s *Store) PauseFile() string { return s.nbs.Path(watching, pauseFile) }
