package services

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/chat/conversation"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
	"nbs-worker/internal/memory"
	"nbs-worker/internal/memory/db"
	"nbs-worker/internal/memory/observer"
	"nbs-worker/internal/store"
	"nbs-worker/internal/store/conversations"
	brief "nbs-worker/internal/team/briefing"
	"nbs-worker/internal/team/observe"
	"nbs-worker/internal/team/supervisor"
)

// OpenMemory opens the memory of a project; with create it creates and seals a missing one. Errors: NotFound; Held when
// it lacks the user's seal; Unfit when a later version made it; Failed when it is damaged.
func OpenMemory(ctx context.Context, in *store.Store, create bool) (memory.Store, error) {
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

// LookAtMemory opens the memory for a person to view, sealed or not.
func LookAtMemory(ctx context.Context, in *store.Store) (memory.Store, string, error) {
	d, err := db.Open(ctx, in.MemoryFile())
	if err != nil {
		return nil, "", err
	}
	return d, d.Instance(), nil
}

// HasMemory reports whether a project may have a memory. A file that cannot be examined counts as present.
func HasMemory(in *store.Store) bool {
	_, err := os.Lstat(in.MemoryFile())
	return !errors.Is(err, os.ErrNotExist)
}

const (
	briefed         = 100 // observations read for a briefing, which has room for fewer
	remembersWithin = 20 * time.Second
)

// Remembered returns the notes about an agent for a briefing, newest first; empty if there is no memory.
func Remembered(ctx context.Context, in *store.Store, handle agent.Handle) ([]brief.Note, error) {
	if !HasMemory(in) {
		return nil, nil
	}
	ctx, cancel := context.WithTimeout(ctx, remembersWithin)
	defer cancel()
	m, err := OpenMemory(ctx, in, false)
	if err != nil {
		return nil, err
	}
	all, err := m.Latest(ctx, memory.Query{Handle: handle, Limit: briefed})
	return agent.Mapped(all, noteOf), errors.Join(err, m.Close())
}

// Conversations returns the engine that runs the turns of a project.
func Conversations(project *observe.Project) *conversation.Engine {
	e := conversation.New(project)
	e.Memories = func(ctx context.Context, of conversations.Key, text string, from, until time.Time) (fitting, noted []string, err error) {
		return recalled(ctx, project.Store, memory.Query{Handle: agent.OfConversation(string(of)), Text: text, Since: from, Until: until})
	}
	return e
}

const (
	mostFitting = 5  // notes that fit a text
	mostNoted   = 10 // notes of a day
)

// recalled returns the notes that fit the text of a query, and those of its time.
func recalled(ctx context.Context, in *store.Store, q memory.Query) (fitting, noted []string, err error) {
	if !HasMemory(in) {
		return nil, nil, nil
	}
	m, err := OpenMemory(ctx, in, false)
	if err != nil {
		return nil, nil, err
	}
	defer m.Close()
	var before []memory.Observation
	if !q.Since.IsZero() {
		if before, err = m.Latest(ctx, memory.Query{Handle: q.Handle, Since: q.Since, Until: q.Until, Limit: mostNoted}); err != nil {
			return nil, nil, err
		}
		slices.Reverse(before)
	}
	found, err := m.Search(ctx, memory.Query{Handle: q.Handle, Text: q.Text, Any: true, Limit: mostFitting})
	if fail.KindOf(err) == fail.BadInput { // the text has no word that could be found
		err = nil
	}
	found = slices.DeleteFunc(found, func(o memory.Observation) bool {
		return slices.ContainsFunc(before, func(b memory.Observation) bool { return b.ID == o.ID })
	})
	return agent.Mapped(found, lineOf), agent.Mapped(before, lineOf), err
}

// lineOf returns a note in one line.
func lineOf(o memory.Observation) string {
	const longest = 400 // characters
	line := fmt.Sprintf("- %s, %s: %s", o.At.Local().Format(time.DateOnly), strings.ReplaceAll(string(o.Type), "_", " "), o.Title)
	if o.Narrative != "" {
		line += ": " + human.OneLine(o.Narrative)
	}
	return human.Cut(line, longest, human.Letter)
}

func noteOf(o memory.Observation) brief.Note {
	return brief.Note{
		ID: o.ID, Kind: strings.ReplaceAll(string(o.Type), "_", " "), Open: o.Type == memory.OpenEnd || o.Type == memory.Question,
		Title: o.Title, Narrative: o.Narrative, Files: o.Files, At: o.At,
	}
}

// Observe runs the worker of the memory, and creates the memory if it is missing.
func Observe(ctx context.Context, s *supervisor.Supervisor, run func(*observer.Worker) error) error {
	kept, err := OpenMemory(ctx, s.Project.Store, true)
	if err != nil {
		return err
	}
	return errors.Join(run(observer.New(s.Project, kept)), kept.Close())
}

// lookAgain is how often a server checks whether an agent's memory was switched on, and whether another process has
// stopped observing.
const lookAgain = 5 * time.Second

// remembering observes the agents while a server runs, once the memory of one is on.
func remembering(ctx context.Context, s *supervisor.Supervisor, say func(format string, args ...any)) error {
	tick := time.NewTicker(lookAgain)
	defer tick.Stop()
	said := ""
	for {
		if somethingToObserve(s.Project.Store) {
			err := Observe(ctx, s, func(w *observer.Worker) error {
				w.Said = say
				return w.Run(ctx)
			})
			if err != nil && ctx.Err() == nil && err.Error() != said && fail.KindOf(err) != fail.Conflict { // Conflict: another observer
				say("memory: %s", memory.UserText(err))
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

// somethingToObserve reports whether an agent's memory was ever on: then there is a database, or a hook has announced
// the end of a turn.
func somethingToObserve(in *store.Store) bool {
	for _, path := range []string{in.MemoryFile(), in.Spool().Path()} {
		if _, err := os.Lstat(path); err == nil {
			return true
		}
	}
	return false
}
