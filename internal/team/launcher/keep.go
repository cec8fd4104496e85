package launcher

import (
	"context"
	"errors"
	"io/fs"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/claude"
	"nbs-worker/internal/store"
)

// Keep gives each transcript of an agent, of its present conversation and of those before, a
// second name in the archive, where Claude does not delete it. It skips a transcript that is not
// there. No caller fails because of its error: the agent runs all the same.
func Keep(ctx context.Context, in *store.Store, config claude.Config, r *agent.Record) error {
	var errs []error
	for _, id := range r.Conversations() {
		if id == r.SessionID || !in.Archive().HasLink(id) { // an earlier conversation that has its link needs none
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

// noteCost completes what the status line said of a claude that has ended. Claude writes the last cost into the
// transcript when it leaves, and does not call its status line any more. It may be lost without harm.
func (l *Launcher) noteCost(ctx context.Context, child *child, r *agent.Record) {
	file, found, err := child.config.Transcript(r.SessionID)
	if err != nil || !found {
		return
	}
	level, err := file.Context(r.Model)
	if err != nil || level.CostUSD == nil {
		return
	}
	_ = l.Store.UpdateReport(ctx, r.Handle, func(report *agent.Report) {
		if gauge := r.GaugeOf(*report); gauge != nil {
			gauge.CostUSD = max(gauge.CostUSD, *level.CostUSD)
		}
	})
}
