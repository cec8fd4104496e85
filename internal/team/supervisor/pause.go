package supervisor

import (
	"context"
	"errors"

	"nbs-worker/internal/fail"
	"nbs-worker/internal/store/journal"
	"nbs-worker/internal/store/watching"
)

// Pause stops all automatic actions on the agents of the project, until [Supervisor.Unpause]. An existing pause
// continues with the new reason.
func (s *Supervisor) Pause(ctx context.Context, reason string) (watching.Pause, error) {
	const longest = 1000 // bytes
	if len(reason) > longest {
		return watching.Pause{}, fail.Errorf(fail.BadInput, "the reason has %d bytes; %d are the most", len(reason), longest)
	}
	pause := watching.Pause{Since: s.Project.Seconds(), Reason: reason}
	if s.Caller != nil {
		pause.By = s.Caller.String()
	}
	if before, err := s.Project.Store.Watching().Paused(); err == nil && before != nil {
		pause.Since = before.Since
	}
	if err := s.Project.Store.Watching().SetPause(pause); err != nil {
		return watching.Pause{}, err
	}
	return pause, s.Project.Store.Journal().Append(ctx, journal.Event{At: s.Project.Seconds(), Event: "pause", Detail: pause.Words()})
}

// Unpause ends the pause of the project. It reports whether there was a pause.
func (s *Supervisor) Unpause(ctx context.Context) (was bool, err error) {
	if was, err = s.Project.Store.Watching().EndPause(); !was {
		return false, err
	}
	return true, errors.Join(err, s.Project.Store.Journal().Append(ctx, journal.Event{At: s.Project.Seconds(), Event: "unpause"}))
}
