package supervisor

import (
	"context"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/claude"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/platform/folder"
	"nbs-worker/internal/store/journal"
)

// Request is what a person is asked to allow: everything that the record of an agent would run.
type Request struct {
	Record  agent.Record
	Allowed bool     // it is already allowed
	Changed []string // fields that were changed since they were last allowed; empty if that is unknown
	Program string   // path of claude; "" if it is not installed
	Folder  string   // where it would run, without links
}

// Request loads what a person is asked to allow for an agent. Errors: those of loading its record; Unfit if the key
// of the seals cannot be used.
func (s *Supervisor) Request(handle agent.Handle) (Request, error) {
	r, err := s.Project.Store.Load(handle)
	if err != nil {
		return Request{}, err
	}
	err = s.Project.Store.CheckSeal(&r)
	if err != nil && fail.KindOf(err) != fail.Held {
		return Request{}, err
	}
	asked := Request{Record: r, Allowed: err == nil, Changed: s.Project.Store.ChangedSinceSealed(&r)}
	asked.Program, _ = claude.FindBinary(s.Project.Variable(claude.BinaryVariable)) // it may be installed later
	moved := r
	s.relocate(&moved, "")
	asked.Folder = folder.Real(moved.LaunchCwd())
	return asked, nil
}

// Allow seals the record that a person has looked at. Errors: Conflict if it was changed since.
func (s *Supervisor) Allow(ctx context.Context, asked Request) error {
	unlock, err := s.lockVerb(ctx, asked.Record.Handle, "allow")
	if err != nil {
		return err
	}
	defer unlock()
	if err := s.Project.Store.Allow(ctx, &asked.Record); err != nil {
		return err
	}
	return s.Project.Note(ctx, "allow", &asked.Record, "a person looked at what it would run")
}

// AllowFile seals a file of the project that a person has looked at, such as a runbook. The code that runs the file
// checks the seal under the same kind. Errors: those of sealing.
func (s *Supervisor) AllowFile(ctx context.Context, kind, name string, content []byte) error {
	if err := s.Project.Store.Allowed().Seal(kind, name, content); err != nil {
		return err
	}
	return s.Project.Store.Journal().Append(ctx, journal.Event{At: s.Project.Seconds(), Event: "allow", Detail: "a person looked at " + name})
}
