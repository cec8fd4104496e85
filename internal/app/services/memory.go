package services

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/app/cli"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
	"nbs-worker/internal/memory"
	"nbs-worker/internal/memory/db"
	"nbs-worker/internal/memory/observer"
	"nbs-worker/internal/store"
	"nbs-worker/internal/team/supervisor"
)

// openMemory opens the memory of a project, which must be sealed; create makes one that is missing.
func openMemory(ctx context.Context, in *store.Store, create bool) (memory.Store, error) {
	open := db.Open
	if create {
		open = func(ctx context.Context, path string) (*db.Database, error) {
			return db.Create(ctx, path, func(instance string) error {
				return in.Allowed().Seal(memory.SealKind, memory.SealName(instance), []byte(instance))
			})
		}
	}
	d, err := open(ctx, in.MemoryFile())
	if err != nil {
		return nil, err
	}
	instance := d.Instance()
	err = in.Allowed().Check(memory.SealKind, memory.SealName(instance), []byte(instance))
	if err == nil {
		return d, nil
	}
	if fail.KindOf(err) == fail.Held {
		err = fail.Errorf(fail.Held, "%s is not allowed: it came with the project, or was moved with it, and agents are told what it holds", human.Quote(in.MemoryFile())).
			Hint("look at it, then: nbs-worker memory allow").
			Hint("or move it away: %s", memory.Aside(in.MemoryFile()))
	}
	return nil, errors.Join(err, d.Close())
}

// lookAtMemory opens the memory of a project, whether or not it is sealed.
func lookAtMemory(ctx context.Context, in *store.Store) (memory.Store, string, error) {
	d, err := db.Open(ctx, in.MemoryFile())
	if err != nil {
		return nil, "", err
	}
	return d, d.Instance(), nil
}

// observing runs the worker of the memory.
func observing(ctx context.Context, s *supervisor.Supervisor, o cli.ObserveOptions) error {
	kept, err := openMemory(ctx, s.Store, true)
	if err != nil {
		return err
	}
	worker := observer.New(s.Observer, kept)
	worker.Handle, worker.Said = o.Handle, o.Say
	if o.Model != "" {
		worker.Model = o.Model
	}
	if o.PerDay > 0 {
		worker.TokensPerDay = o.PerDay
	}
	if !o.Once {
		return errors.Join(worker.Run(ctx), kept.Close())
	}
	done, err := worker.Once(ctx)
	if err = errors.Join(err, kept.Close()); err != nil {
		return err
	}
	return o.Done(done.Turns, done.Observations, done.Tokens, agent.Mapped(done.Waiting, func(w observer.Waiting) string {
		return fmt.Sprintf("%s: not all of %s is observed: %s", w.Handle, w.ContentID, w.Why)
	}))
}

// lookAgain is how often a server looks whether the memory of an agent was switched on, or whether another
// process has stopped observing.
const lookAgain = 5 * time.Second

// remembering observes the agents as long as a server runs, once the memory of one is on.
func remembering(ctx context.Context, s *supervisor.Supervisor, say func(format string, args ...any)) error {
	tick := time.NewTicker(lookAgain)
	defer tick.Stop()
	said := ""
	for {
		if somethingToObserve(s.Store) {
			err := observing(ctx, s, cli.ObserveOptions{Say: say})
			if err != nil && ctx.Err() == nil && err.Error() != said && fail.KindOf(err) != fail.Conflict { // else another process observes
				say("memory: %s", memory.Told(err))
			}
			if said = ""; err != nil {
				said = err.Error()
			}
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// somethingToObserve tells whether the memory of an agent was ever on: then there is a database, or a hook has announced
// the end of a turn.
func somethingToObserve(in *store.Store) bool {
	for _, path := range []string{in.MemoryFile(), in.Spool().Path()} {
		if _, err := os.Lstat(path); err == nil {
			return true
		}
	}
	return false
}
