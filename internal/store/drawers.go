package store

import (
	"context"
	"path/filepath"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/store/allowed"
	"nbs-worker/internal/store/archive"
	"nbs-worker/internal/store/bot"
	"nbs-worker/internal/store/conversations"
	"nbs-worker/internal/store/costs"
	"nbs-worker/internal/store/deliveries"
	"nbs-worker/internal/store/journal"
	"nbs-worker/internal/store/moves"
	"nbs-worker/internal/store/private"
	"nbs-worker/internal/store/progress"
	"nbs-worker/internal/store/projects"
	"nbs-worker/internal/store/queue"
	"nbs-worker/internal/store/requests"
	"nbs-worker/internal/store/runs"
	"nbs-worker/internal/store/schedules"
	"nbs-worker/internal/store/sealed"
	"nbs-worker/internal/store/seen"
	"nbs-worker/internal/store/spool"
	"nbs-worker/internal/store/treelooks"
	"nbs-worker/internal/store/turnfiles"
	"nbs-worker/internal/store/turns"
	"nbs-worker/internal/store/watching"
)

func (s *Store) sealed() *sealed.Folder {
	return &sealed.Folder{Folder: s.nbs, Keeper: s.keeper, Project: s.project, Prepare: s.prepare}
}

// Journal returns the project's journal.
func (s *Store) Journal() *journal.Journal { return s.journal }

// Complain is [journal.Journal.Complain]. It also serves a .nbs in which no verb has run yet.
func (s *Store) Complain(ctx context.Context, event journal.Event) error {
	if err := s.prepare(); err != nil {
		return err
	}
	return s.journal.Complain(ctx, event)
}

// Archive returns the archive of transcripts.
func (s *Store) Archive() *archive.Archive { return s.archive }

// Outbox returns the outbox of an agent.
func (s *Store) Outbox(handle agent.Handle) *queue.Queue {
	return queue.In(s.sealed(), handle, s.inHome(queue.Folder), s.ProjectHash(), func() error {
		r, err := s.Load(handle)
		if err == nil && r.IsLeaving() { // what waits for it goes along, or has gone
			err = fail.Errorf(fail.Conflict, "%s", r.Leaves())
		}
		return err
	})
}

// Moves returns the moves of agents to and from other machines.
func (s *Store) Moves() *moves.Drawer {
	return moves.In(s.sealed(), s.inHome(filepath.Join(moves.Folder, s.ProjectHash())))
}

// Runs returns the progress of repairs and runbook runs.
func (s *Store) Runs() *runs.Runs { return runs.In(s.sealed()) }

// Allowed returns the project files that the user has sealed.
func (s *Store) Allowed() *allowed.Files { return allowed.In(s.sealed()) }

// Conversations returns the project's keyed chats.
func (s *Store) Conversations() *conversations.Drawer { return conversations.In(s.sealed()) }

// Watching returns the pause of automatic actions, and the memory of the watch.
func (s *Store) Watching() *watching.Watching {
	return watching.In(s.sealed(), s.inHome(watching.Folder), s.ProjectHash())
}

// Schedules returns the project's schedules and their progress.
func (s *Store) Schedules() *schedules.Schedules { return schedules.In(s.sealed()) }

// Deliveries returns the notes on messages from outside.
func (s *Store) Deliveries() *deliveries.Drawer { return deliveries.In(s.sealed()) }

// Bot returns the project's bot, as it is set up.
func (s *Store) Bot() *bot.Drawer { return bot.In(s.sealed(), s.inHome(bot.Folder)) }

// Progress returns how far the bridge to Matrix is.
func (s *Store) Progress() *progress.Drawer { return progress.In(s.sealed()) }

// Spool returns the hooks' announcements to the memory.
func (s *Store) Spool() spool.Spool { return spool.In(s.nbs, s.inHome("observer")) }

// MemoryFile returns the database of the memory. It exists once the memory of an agent was switched on.
func (s *Store) MemoryFile() string { return s.nbs.Path("memory.db") }

// Costs returns what the agents have spent.
func (s *Store) Costs() *costs.Drawer { return costs.In(s.nbs, s.prepare) }

// Seen returns when the user last looked at the agents of the project.
func (s *Store) Seen() *seen.Marks { return seen.In(s.inHome("seen"), s.ProjectHash()) }

// BecomeKnown makes the project one of the user's known ones; see package projects.
func (s *Store) BecomeKnown(now time.Time) error {
	if s.home == "" || !s.Exists() {
		return nil
	}
	return projects.Of(s.home).Note(s.project, s.journal.FirstSum(), now)
}

// Requests returns what agents of the project ask a person for, and the answers, while their hooks wait.
func (s *Store) Requests() *requests.Drawer {
	if s.Runtime() == "" {
		return requests.In(private.NoTree)
	}
	return requests.In(private.Tree(filepath.Join(s.Runtime(), s.ProjectHash(), "requests")))
}

// TreeLooks returns what git has said of the worktrees of the project's agents.
func (s *Store) TreeLooks() treelooks.Looks {
	if s.Runtime() == "" {
		return treelooks.In(private.NoTree)
	}
	return treelooks.In(private.Tree(filepath.Join(s.Runtime(), s.ProjectHash(), "trees")))
}

// Turns returns the turns that the user's starts of agents take on this machine, in all projects.
func (s *Store) Turns() turns.Turns { return turns.In(s.inRuntime("starts")) }

// AgentsTurns returns the same for the headless turns that agents ask for: they take no place from a person.
func (s *Store) AgentsTurns() turns.Turns { return turns.In(s.inRuntime("agents")) }

// ConversationTurns returns the same for the user's headless turns.
func (s *Store) ConversationTurns() turns.Turns { return turns.In(s.inRuntime("conversations")) }

// TurnFiles returns the files that one headless claude reads while it runs.
func (s *Store) TurnFiles(invocation agent.Invocation) turnfiles.Files {
	return turnfiles.In(s.inRuntime("turns"), string(invocation))
}

// SweepTurnFiles removes the turn files of killed processes.
func (s *Store) SweepTurnFiles(now time.Time, isThere func(invocation string) bool) {
	turnfiles.Sweep(s.inRuntime("turns"), now, isThere)
}

func (s *Store) inRuntime(folder string) private.Tree {
	if s.Runtime() == "" {
		return private.NoTree
	}
	return private.Tree(filepath.Join(s.Runtime(), folder))
}
