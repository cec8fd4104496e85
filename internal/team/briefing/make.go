package brief

import (
	"fmt"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/team/observe"
)

// Wanted says which conversation the notes are about.
type Wanted struct {
	SessionID agent.SessionID
	Why       string // the reason why it was given up
	Tokens    int    // the limit of the notes, as in [Notes]
}

// Source says what the notes were made from.
type Source struct {
	Memory     bool  // from the memory
	Transcript bool  // from the transcript
	Missed     error // why a part was left out
}

// Text returns the notes for an agent's successor, from the transcript and from noted, the memory's observations,
// newest first.
func Text(o *observe.Project, r *agent.Record, w Wanted, noted []Note) (string, Source) {
	notes := Notes{Handle: r.Handle, SessionID: w.SessionID, Why: w.Why, Noted: noted, Tokens: w.Tokens}
	from := Source{Memory: len(noted) > 0}
	notes.Said, from.Transcript, from.Missed = said(o, r, w.SessionID)
	notes.Gone = !from.Transcript && from.Missed == nil
	return notes.Text(), from
}

func said(o *observe.Project, r *agent.Record, id agent.SessionID) (said Said, there bool, err error) {
	config, err := o.ConfigOf(r)
	if err != nil {
		return said, false, err
	}
	file, there, err := config.Transcript(id)
	if err != nil || !there {
		return said, there, err
	}
	if said, err = read(file); err != nil {
		return Said{}, false, fmt.Errorf("read the transcript: %w", err)
	}
	return said, true, nil
}
