package store

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"slices"
	"strings"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
	"nbs-worker/internal/platform/parallel"
	"nbs-worker/internal/platform/smallfile"
	"nbs-worker/internal/store/moves"
	"nbs-worker/internal/store/private"
)

// The sizes in bytes beyond which a file of ours is damaged.
const (
	// fileLimit has room for some 25,000 earlier conversations of an agent. A change that would make the record larger is
	// refused, so that the agent could not be followed to its next one.
	fileLimit = 4 << 20
	// newRecordLimit is for the record of an agent that was never started. The rest has room for
	// twenty exits, with last screens full of characters that JSON spells with six.
	newRecordLimit = 400 << 10
)

// Handles lists the agents that have a record, sorted, whether or not the record
// can be read.
func (s *Store) Handles() ([]agent.Handle, error) {
	if !s.nbs.Made() {
		return nil, nil
	}
	names, err := s.nbs.Names(sessions)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var handles []agent.Handle
	for _, name := range names {
		stem, isRecord := strings.CutSuffix(name, ".json")
		if handle, err := agent.ParseHandle(stem); isRecord && err == nil {
			handles = append(handles, handle)
		}
	}
	slices.Sort(handles)
	return handles, err
}

// Load reads the record of the handle, which may differ in case from the spawned one. Errors: NotFound; BadInput for
// a damaged record; Unfit for a newer schema; Failed when the file could not be read.
func (s *Store) Load(handle agent.Handle) (record agent.Record, err error) {
	name := handle
	data, err := s.nbs.Read(sessions, recordFile(name), fileLimit)
	if errors.Is(err, fs.ErrNotExist) {
		if name, err = s.spelling(handle); err != nil {
			return record, err
		}
		data, err = s.nbs.Read(sessions, recordFile(name), fileLimit)
	}
	switch {
	case errors.Is(err, fs.ErrNotExist): // it was just removed
		return record, &AbsentError{handle, s.absent(handle)}
	case fail.KindOf(err) == fail.BadInput:
		return record, err // not damaged: others could have written it
	case errors.Is(err, smallfile.ErrIrregular), errors.Is(err, smallfile.TooLargeError(fileLimit)):
		return record, s.damaged(name, err)
	case err != nil: // a temporary error, such as too many open files
		return record, fail.Errorf(fail.Failed, "read the record %s: %w", human.Quote(s.absolute(name)), err)
	}
	if err := s.understand(name, data, &record); err != nil {
		return agent.Record{}, err
	}
	return record, nil
}

// Loaded is a record, or the error of reading it.
type Loaded struct {
	Handle agent.Handle
	Record agent.Record
	Err    error // as of Load
}

// Records reads all records, in the order of their handles.
func (s *Store) Records() ([]Loaded, error) {
	handles, err := s.Handles()
	all := make([]Loaded, len(handles))
	parallel.Each(len(all), func(i int) {
		one := &all[i]
		one.Handle = handles[i]
		one.Record, one.Err = s.Load(one.Handle)
	})
	return all, err
}

// understand checks and decodes the content of a record's file.
func (s *Store) understand(name agent.Handle, data []byte, into *agent.Record) error {
	if err := agent.ParseRecord(data, into); err != nil {
		if newer := newerSchema(data); newer != nil {
			return newer
		}
		return s.damaged(name, err) // it reads the journal
	}
	if into.Schema > agent.Schema {
		return into.Validate()
	}
	if !into.Handle.Same(name) {
		return s.damaged(name, fail.Errorf(fail.BadInput, "it names another agent: %s", human.Quote(string(into.Handle))))
	}
	if err := into.Validate(); err != nil {
		return s.damaged(name, err)
	}
	into.Handle = name // a handle that was edited into another case must not lead to a second file
	return nil
}

// newerSchema returns the error for a record of a newer schema, nil for any other. Its fields may have
// any form, and it must not be reported as damaged.
func newerSchema(data []byte) error {
	var newer struct{ Schema int }
	if json.Unmarshal(data, &newer) == nil && newer.Schema > agent.Schema {
		return (&agent.Record{Spec: agent.Spec{Schema: newer.Schema}}).Validate()
	}
	return nil
}

// Insert writes the record of a new agent. Errors: Conflict when the handle is taken.
func (s *Store) Insert(ctx context.Context, record agent.Record) error {
	unlock, err := s.lockRecord(ctx, record.Handle)
	if err != nil {
		return err
	}
	defer unlock()
	if err := s.CheckFree(record.Handle); err != nil {
		return err
	}
	if err := record.Validate(); err != nil {
		return err
	}
	if err := s.seal(&record); err != nil {
		return err
	}
	limit := newRecordLimit // there must be room for the data of later starts and ends
	if len(record.Exits) > 0 || len(record.PreviousSessions) > 0 {
		limit = fileLimit // it was started under another handle or at another machine
	}
	return errors.Join(s.nbs.WriteJSON(sessions, recordFile(record.Handle), &record, limit), s.syncFolders())
}

// CheckFree checks that no agent has the handle, in any case.
// Errors: Conflict when one has.
func (s *Store) CheckFree(handle agent.Handle) error {
	taken, err := s.inAnyCase(handle)
	if err != nil || len(taken) == 0 {
		return err
	}
	if slices.Contains(taken, handle) {
		taken[0] = handle
	}
	return fail.Errorf(fail.Conflict, "the handle is taken").
		Hint("to see that agent: nbs-worker session %s", taken[0]).
		Hint("if it is not running, to bring it back: nbs-worker resume %s", taken[0])
}

// Update changes a record under its lock and returns what was written. When change
// fails, nothing is written. Errors: those of Load and of change.
func (s *Store) Update(ctx context.Context, handle agent.Handle, change func(*agent.Record) error) (agent.Record, error) {
	unlock, err := s.lockRecord(ctx, handle)
	if err != nil {
		return agent.Record{}, err
	}
	defer unlock()
	record, err := s.Load(handle)
	if err != nil {
		return agent.Record{}, err
	}
	fields, seal := record.LaunchFields(), record.Seal
	if err := change(&record); err != nil {
		return agent.Record{}, err
	}
	if err := s.reseal(&record, fields, seal); err != nil {
		return agent.Record{}, err
	}
	return record, s.write(&record)
}

// Remove deletes the record of an agent. Its lock files stay: an unlinked lock would let a second holder in.
func (s *Store) Remove(ctx context.Context, handle agent.Handle) error {
	unlock, err := s.lockRecord(ctx, handle)
	if err != nil {
		return err
	}
	defer unlock()
	name, err := s.spelling(handle)
	if err != nil {
		return err
	}
	return s.nbs.Delete(sessions, recordFile(name))
}

func (s *Store) write(record *agent.Record) error {
	if err := record.Validate(); err != nil {
		return err
	}
	return s.nbs.WriteJSON(sessions, recordFile(record.Handle), record, fileLimit)
}

// spelling finds the handle as its record's file spells it.
func (s *Store) spelling(handle agent.Handle) (agent.Handle, error) {
	if s.nbs.Made() {
		if _, err := s.nbs.Lstat(recordPath(handle)); err == nil {
			return handle, nil
		}
	}
	handles, err := s.inAnyCase(handle)
	if err != nil {
		return "", err
	}
	switch len(handles) {
	case 0:
		return "", &AbsentError{handle, s.absent(handle)}
	case 1:
		return handles[0], nil
	default:
		return "", fail.Errorf(fail.Conflict, "several records differ from %s only in case", handle).
			Hint("give the exact spelling: %s or %s", handles[0], handles[1])
	}
}

// inAnyCase lists the agents whose handles differ at most in case.
func (s *Store) inAnyCase(handle agent.Handle) ([]agent.Handle, error) {
	handles, err := s.Handles()
	return slices.DeleteFunc(handles, func(h agent.Handle) bool { return !h.Same(handle) }), err
}

// AbsentError is the error for a handle without an agent.
type AbsentError struct {
	Handle agent.Handle
	err    error
}

func (e *AbsentError) Error() string { return e.err.Error() }

func (e *AbsentError) Unwrap() error { return e.err }

// absent returns why an agent is not in the project, and what to do.
func (s *Store) absent(handle agent.Handle) error {
	handles, _ := s.Handles()
	absent := fail.Errorf(fail.NotFound, "no such agent in %s", human.Quote(s.project))
	if note := s.Moves().Of(handle); note != nil {
		absent = fail.Errorf(fail.NotFound, "no such agent in %s: it was moved to %s", human.Quote(s.project), note.Place)
		if note.State == moves.Left {
			return absent.Hint("it is not known to have arrived; to complete the move: %s", note.Command).
				Hint("if %s is lost for good: nbs-worker move %s --cancel --lost", note.Place, handle)
		}
		if word, is := note.AtHost(); is {
			return absent.Hint("to use it there: nbs-worker session %s", word)
		}
		return absent.Hint("to see the agents: nbs-worker list")
	}
	if near := handle.Nearest(handles); near != "" {
		return absent.Hint("did you mean %s? To see the agents: nbs-worker list", near)
	}
	return absent.Hint("to see the agents: nbs-worker list; to start it: nbs-worker spawn %s", handle)
}

// damaged returns the error for a damaged file, with the command that restores the agent from the id in the journal.
func (s *Store) damaged(handle agent.Handle, cause error) error {
	path := s.absolute(handle)
	err := fail.Errorf(fail.BadInput, "the record %s is damaged: %w", human.Quote(path), cause).
		Hint("move the file aside: %s", private.MoveTo(path, ".damaged"))
	if id := s.journal.LastSessionID(handle); id != "" {
		return err.Hint("then continue its conversation: nbs-worker spawn %s --session-id %s", handle, id)
	}
	return err
}

// MoveAside returns the command that moves a record away, and keeps it.
func (s *Store) MoveAside(handle agent.Handle) string {
	return private.MoveTo(s.absolute(handle), ".old")
}

func (s *Store) absolute(handle agent.Handle) string {
	return s.project + "/" + folder + "/" + recordPath(handle)
}

func recordFile(handle agent.Handle) string { return string(handle) + ".json" }

func recordPath(handle agent.Handle) string { return sessions + "/" + recordFile(handle) }
