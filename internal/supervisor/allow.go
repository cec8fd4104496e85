package supervisor

import (
	"context"
	"slices"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/claude"
	"nbs-worker/internal/observe"
	"nbs-worker/internal/store/archive"
)

// Request is what a person is asked to allow: all that the record of an agent would run.
type Request struct {
	Record  agent.Record
	Allowed bool     // it is already
	Changed []string // fields that are not as they were allowed last; none when that is not known
	Program string   // path of claude; "" when there is none now
	Folder  string   // where it would run, without links

	Transcripts []archive.Kept // that lie in the project, and would be taken over into the archive
}

// Request loads what there is to allow of an agent. Errors: those of loading its record; Unfit
// when the key of the seals cannot be used.
func (s *Supervisor) Request(handle agent.Handle) (Request, error) {
	r, err := s.Store.Load(handle)
	if err != nil {
		return Request{}, err
	}
	err = s.Store.CheckSeal(&r)
	if err != nil && agent.KindOf(err) != agent.Held {
		return Request{}, err
	}
	asked := Request{Record: r, Allowed: err == nil, Changed: s.Store.ChangedSinceSealed(&r)}
	asked.Program, _ = claude.FindBinary(s.Variable(claude.BinaryVariable)) // it may be installed later
	moved := r
	s.relocate(&moved, "")
	asked.Folder = observe.RealPath(moved.LaunchCwd())
	asked.Transcripts, err = s.inProject(&r)
	return asked, err
}

// inProject are the transcripts of an agent that lie in the project.
func (s *Supervisor) inProject(r *agent.Record) ([]archive.Kept, error) {
	var all []archive.Kept
	for _, id := range r.Conversations() {
		some, err := s.Store.Archive().InProject(id)
		if err != nil {
			return nil, err
		}
		all = append(all, some...)
	}
	return all, nil
}

// takeOver moves the transcripts that a person has looked at into the archive. Errors: Conflict
// when they were changed since.
func (s *Supervisor) takeOver(ctx context.Context, asked Request) (taken int, err error) {
	now, err := s.inProject(&asked.Record)
	if err != nil {
		return 0, err
	}
	if !slices.EqualFunc(asked.Transcripts, now, archive.Kept.IsAsLooked) {
		return 0, agent.Errorf(agent.Conflict, "its transcripts in the project were changed while they were looked at").
			Hint("look again: nbs-worker allow %s", asked.Record.Handle)
	}
	moved, err := s.Store.Archive().TakeOver(ctx, asked.Record.Conversations()...)
	return len(moved), err
}

// Allow seals the record that a person has looked at. Errors: Conflict when it was changed
// since.
func (s *Supervisor) Allow(ctx context.Context, asked Request) error {
	unlock, err := s.lockVerb(ctx, asked.Record.Handle, "allow")
	if err != nil {
		return err
	}
	defer unlock()
	taken, err := s.takeOver(ctx, asked)
	if err != nil {
		return err
	}
	if err := s.Store.Allow(ctx, &asked.Record); err != nil {
		return err
	}
	detail := "a person looked at what it would run"
	if taken > 0 {
		detail += "; taken over from the project: " + agent.Count(taken, "transcript")
	}
	return s.Note(ctx, "allow", &asked.Record, detail)
}
