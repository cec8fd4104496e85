package watch

import (
	"context"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/store/watching"
	"nbs-worker/internal/team/recovery"
	"nbs-worker/internal/team/subscribe"
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

// Signs reports that agents may have changed, new ones included: see [subscribe.Signs].
type Signs interface {
	C() <-chan subscribe.Sign
	// Err returns why C was closed.
	Err() error
}

// Teller notifies a person.
type Teller interface {
	Tell(ctx context.Context, notice Notice) error
}
