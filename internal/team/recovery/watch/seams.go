package watch

import (
	"context"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/store/watching"
	"nbs-worker/internal/team/recovery"
)

// Team is the agents of a project.
type Team interface {
	Handles() ([]agent.Handle, error)
	// Look judges agents; one that was dismissed is unknown, and has no record.
	Look(ctx context.Context, handles []agent.Handle) []recovery.Patient
	// Repair brings an agent back, as far as the policy permits. done says what was done.
	Repair(ctx context.Context, handle agent.Handle) (done string, err error)
}

// Keeper keeps what outlives a watch.
type Keeper interface {
	Paused() (*watching.Pause, error)
	LoadState() (State, error)
	SaveState(memory State) error
	Note(ctx context.Context, handle agent.Handle, detail string) error
}

// Signs tell that something may have changed.
type Signs interface {
	// Follow watches what shows a change of these agents, given as they were seen.
	Follow(patients []recovery.Patient) error
	// C delivers the agent to which something happened, who may be new; "" when it may be any.
	C() <-chan agent.Handle
	// Err is why there are no more signs, when C is closed.
	Err() error
}

// Teller tells a person.
type Teller interface {
	Tell(ctx context.Context, notice Notice) error
}
