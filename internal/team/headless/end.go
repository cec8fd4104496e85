package headless

import (
	"context"
	"slices"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/platform/machine"
	"nbs-worker/internal/team/lineage"
	"nbs-worker/internal/team/observe"
)

// endGrace is how long the processes of a claude have to exit.
const endGrace = 5 * time.Second

// End asks the claude to exit, kills it if it does not, and releases the conversation. It does so even if the context
// is canceled.
func (s *Session) End(ctx context.Context) {
	beside := s.Beside()
	s.end(ctx, !beside.Busy() && s.exits(ctx)) // claude would not exit before its tasks have ended, or end them without a word
}

// Linger waits until a claude for one turn has exited. It does so once its background tasks have ended, and it has said
// what came of them. When it is stopped, limit is over, or the context has ended, the claude is ended.
func (s *Session) Linger(ctx context.Context, stop <-chan struct{}, limit time.Duration) {
	if beside := s.Beside(); beside.Later {
		ctx, cancel := context.WithTimeout(ctx, limit)
		defer cancel()
		select {
		case <-s.Ended():
		case <-stop:
		case <-ctx.Done():
		}
	}
	s.End(ctx)
}

// Kill ends the claude and the processes that it started, and releases the conversation.
func (s *Session) Kill(ctx context.Context) { s.end(ctx, false) }

func (s *Session) end(ctx context.Context, exited bool) {
	beside := s.Beside() // before claude ends its tasks itself
	if beside.Busy() && s.cut != nil {
		defer s.cut(beside.Tasks)
	}
	for ; !exited; exited = s.exits(ctx) { // without free descriptors, no process is found
		_ = endProcesses(context.WithoutCancel(ctx), s.machine, s.Invocation, endGrace)
	}
	_ = s.DropFiles() // otherwise the next sweep does it
	s.release()
}

// exits asks the claude to exit, and reports whether it did in time.
func (s *Session) exits(ctx context.Context) bool {
	patience, cancel := context.WithTimeout(context.WithoutCancel(ctx), endGrace)
	defer cancel()
	return s.Close(patience) == nil
}

// EndLeft ends what is left of a claude whose runner is gone, and removes its files.
func EndLeft(ctx context.Context, o *observe.Project, invocation agent.Invocation) error {
	err := endProcesses(ctx, o.Machine, invocation, endGrace)
	if err == nil {
		_ = o.Store.TurnFiles(invocation).Drop() // otherwise the next sweep does it
	}
	return err
}

// IsLeft reports whether anything of a claude is left.
func IsLeft(o *observe.Project, invocation agent.Invocation) bool {
	left, err := lineage.LeftOfTurn(o.Machine, invocation)
	return err != nil || len(left) > 0
}

// EndStopped is EndLeft for a turn that was stopped: claude is asked to give it up first, so that its transcript says
// so.
func EndStopped(ctx context.Context, o *observe.Project, invocation agent.Invocation) error {
	if left, err := lineage.LeftOfTurn(o.Machine, invocation); err == nil && len(left) > 0 && interruptClaude(o.Machine, invocation) {
		deadline, cancel := context.WithTimeout(ctx, interruptGrace)
		defer cancel()
		for _, id := range left {
			o.Machine.WaitGone(deadline, id, interruptGrace)
		}
	}
	return EndLeft(ctx, o, invocation)
}

// endProcesses ends a claude first and then the processes that it started. If a tool ended first, claude would report
// that to the model and continue. Each has grace to exit.
func endProcesses(ctx context.Context, m *machine.Machine, invocation agent.Invocation, grace time.Duration) error {
	for {
		highest, err := highestOfTurn(m, invocation)
		if err != nil || len(highest) == 0 {
			return err
		}
		if err := m.StopAll(ctx, highest, grace); err != nil {
			return err
		}
	}
}

// highestOfTurn returns the claude of an attempt, or, if that has ended, what it started: of all that are left, those
// that are below no other.
func highestOfTurn(m *machine.Machine, invocation agent.Invocation) ([]agent.Identity, error) {
	left, err := lineage.LeftOfTurn(m, invocation)
	isBelow := func(id agent.Identity) bool {
		above := m.AncestorsOf(id.PID)
		return slices.ContainsFunc(left, func(other agent.Identity) bool { return other.PID != id.PID && slices.Contains(above, other.PID) })
	}
	return slices.DeleteFunc(slices.Clone(left), isBelow), err
}
