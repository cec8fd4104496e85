package launcher

import (
	"context"
	"errors"
	"io/fs"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/claude"
	"nbs-worker/internal/store"
)

// Keep gives each transcript of an agent, of present and earlier conversations, a second name in the archive, where
// Claude does not delete it. It skips a missing transcript. Callers do not fail on its error: the agent runs anyway.
func Keep(ctx context.Context, in *store.Store, config claude.Config, r *agent.Record) error {
	var errs []error
	for _, id := range r.Conversations() {
		if id == r.SessionID || !in.Archive().HasLink(id) { // an earlier conversation that has its link needs no other
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
		return nil // it was just deleted
	}
	return err
}
