package watch

import (
	"context"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/store/watching"
	"nbs-worker/internal/team/recovery"
)

// Team is the set of agents of a project.
type Team interface {
	Handles() ([]agent.Handle, error)
	// Look judges agents. A dismissed agent is unknown, and has no record.
	Look(ctx context.Context, handles []agent.Handle) []recovery.Patient
	// Repair repairs an agent, as far as the policy permits. done says what was done.
	Repair(ctx context.Context, handle agent.Handle) (done string, err error)
}

// Keeper keeps what must outlast a watch.
type Keeper interface {
	Paused() (*watching.Pause, error)
	LoadState() (State, error)
	SaveState(memory State) error
	Note(ctx context.Context, handle agent.Handle, detail string) error
}

// Signs reports that something may have changed.
type Signs interface {
	// Follow watches files and processes that show a change of these agents, given as they were last seen.
	Follow(patients []recovery.Patient) error
	// C delivers the handle of a changed agent, which may be new; "" if it may be any agent.
	C() <-chan agent.Handle
	// Err returns why C was closed.
	Err() error
}

// Teller notifies a person.
type Teller interface {
	Tell(ctx context.Context, notice Notice) error
}
