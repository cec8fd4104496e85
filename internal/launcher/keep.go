package launcher

import (
	"context"
	"errors"
	"io/fs"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/claude"
	"nbs-worker/internal/store"
)

// Keep gives each transcript of an agent, of this conversation and of those before, its
// second name in the archive, where Claude does not delete it. One that is not there is passed
// over. Nobody fails because of an error: the agent runs all the same.
func Keep(ctx context.Context, in *store.Store, config claude.Config, r *agent.Record) error {
	var errs []error
	for _, id := range r.Conversations() {
		if id == r.SessionID || !in.Archive().HasLink(id) { // what was left and has one needs no look for the original
			errs = append(errs, keep(ctx, in, config, id))
		}
	}
	return errors.Join(errs...)
}

func keep(ctx context.Context, in *store.Store, config claude.Config, id agent.SessionID) error {
	transcript, found, err := config.Transcript(id)
	if err != nil || !found {
		return err
	}
	err = in.Archive().Keep(ctx, id, transcript.Path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // it went this moment
	}
	return err
}
