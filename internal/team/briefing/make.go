package brief

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/memory"
	"nbs-worker/internal/platform/companion"
	"nbs-worker/internal/team/observe"
)

// Wanted says which conversation the notes are to be about.
type Wanted struct {
	SessionID agent.SessionID
	Why       string // the reason why it was given up
	Tokens    int    // most tokens of the notes, as in [Notes]
}

// Source says what notes were made from.
type Source struct {
	Memory     bool  // also from what is remembered
	Transcript bool  // from the transcript
	Missed     error // why a part of what there is was left out
}

// Text returns the notes for an agent's successor. Another program reads what is remembered: to link the
// database would slow each start of this one.
func Text(ctx context.Context, o *observe.Observer, r *agent.Record, w Wanted) (string, Source) {
	var missed error
	if _, err := os.Lstat(o.Store.MemoryFile()); err == nil {
		text, from, err := remembered(ctx, o, r, w)
		if err == nil {
			return text, from
		}
		missed = fmt.Errorf("what is remembered cannot be read: %w", err)
	}
	text, from := Of(o, r, w, nil)
	if from.Missed == nil {
		from.Missed = missed
	}
	return text, from
}

// Of makes the text from the transcript and from noted, what is remembered, the newest first.
func Of(o *observe.Observer, r *agent.Record, w Wanted, noted []memory.Observation) (string, Source) {
	notes := Notes{Handle: r.Handle, SessionID: w.SessionID, Why: w.Why, Noted: noted, Tokens: w.Tokens}
	from := Source{Memory: len(noted) > 0}
	notes.Said, from.Transcript, from.Missed = said(o, r, w.SessionID)
	notes.Gone = !from.Transcript && from.Missed == nil
	return notes.Text(), from
}

func said(o *observe.Observer, r *agent.Record, id agent.SessionID) (said Said, there bool, err error) {
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

// remembersWithin is how long reading what is remembered may take.
const remembersWithin = 20 * time.Second

// remembered is what nbs-worker memory brief --json makes of both. Errors: those of its run.
func remembered(ctx context.Context, o *observe.Observer, r *agent.Record, w Wanted) (string, Source, error) {
	ctx, cancel := context.WithTimeout(ctx, remembersWithin)
	defer cancel()
	var out, errs bytes.Buffer
	args := []string{"memory", "brief", string(r.Handle), "--root", o.Store.Project(), "--session-id", string(w.SessionID), "--why", w.Why, "--json"}
	code, err := companion.Run(ctx, args, strings.NewReader(""), &out, &errs)
	if err != nil {
		return "", Source{}, err
	}
	first, _, _ := strings.Cut(strings.TrimSpace(errs.String()), "\n")
	var complaint struct {
		Note  string
		Error struct{ Message string }
	}
	_ = json.Unmarshal([]byte(first), &complaint) // a program that crashed writes what it can
	if code != 0 {
		return "", Source{}, fail.Errorf(fail.Failed, "%s", oneLine(cmp.Or(complaint.Error.Message, first)))
	}
	var notes struct {
		Text string
		From []string
	}
	if err := json.Unmarshal(out.Bytes(), &notes); err != nil {
		return "", Source{}, err
	}
	from := Source{Memory: slices.Contains(notes.From, "memory"), Transcript: slices.Contains(notes.From, "transcript")}
	if complaint.Note != "" {
		from.Missed = errors.New(oneLine(strings.TrimPrefix(complaint.Note, "note: ")))
	}
	return cut(notes.Text, Limit), from, nil
}
