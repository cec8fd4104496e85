package supervisor

import (
	"context"
	"fmt"
	"os"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/store"
	"nbs-worker/internal/team/adopt"
)

// Adopted is the result of an adoption.
type Adopted struct {
	Record      agent.Record
	Status      agent.Status
	HasMessages bool  // the conversation has messages
	Unkept      error // why the transcript could not be kept
}

// Adopt writes a record of a running claude, and changes nothing of it: its process, its terminal and its files stay
// unchanged.
func (s *Supervisor) Adopt(ctx context.Context, a adopt.Request) (Adopted, error) {
	unlock, err := s.lockVerb(ctx, a.Handle, "adopt")
	if err != nil {
		return Adopted{}, err
	}
	defer unlock()
	r, err := s.PlanAdopt(ctx, a)
	if err != nil {
		return Adopted{}, err
	}
	// With the lease, if two commands adopt it under two names, one of them sees the record of the other.
	release, err := s.Project.Store.AcquireLease(r.SessionID, store.Holder{PID: os.Getpid(), Verb: "adopt", Handle: a.Handle, Since: s.Project.Seconds()})
	if err != nil {
		return Adopted{}, err
	}
	defer release()
	if err := s.Project.CheckUnrecorded(&r); err != nil {
		return Adopted{}, err
	}
	if err := s.Project.Store.Insert(ctx, r); err != nil {
		return Adopted{}, err
	}
	adopted := Adopted{Record: r, Status: s.Project.LookAt(ctx, r).Status, HasMessages: !r.TranscriptSeen.IsZero(), Unkept: s.Keeper.Keep(ctx, &r)}
	if err := s.Project.Note(ctx, "adopt", &r, fmt.Sprintf("pid %d, started by hand", r.PID)); err != nil {
		return adopted, butDone(err, "it was adopted, but the journal does not say so")
	}
	return adopted, nil
}

// PlanAdopt returns the record of an adoption, and changes nothing.
func (s *Supervisor) PlanAdopt(ctx context.Context, a adopt.Request) (agent.Record, error) {
	return adopt.Plan(ctx, s.Project, a)
}
