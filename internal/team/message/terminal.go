package message

import (
	"context"

	"nbs-worker/internal/fail"
	"nbs-worker/internal/platform/tmux"
	"nbs-worker/internal/team/message/typing"
	"nbs-worker/internal/team/observe"
)

// terminal returns the pane in which an agent was seen. Errors: Unfit if there is no pane; Conflict if the pane is that
// of another agent, whose process the record names: the process is not part of what the seal covers.
func (s *Sender) terminal(sight *observe.Sight) (typing.Terminal, error) {
	if sight.Pane == nil {
		return nil, fail.Errorf(fail.Unfit, "it does not run in tmux, and nothing can be typed there").
			Hint("move it into tmux, which ends it and starts it again: nbs-worker resume %s --force", sight.Record.Handle)
	}
	r := &sight.Record
	for _, pid := range []int{sight.Pane.PID, r.Process.Claude().PID} { // a forged record may name a claude that is not in the pane
		if s.project.Lineage().OfOther(r, pid) {
			copied := fail.Errorf(fail.Conflict, "process %d is recorded as %s's, but belongs to another agent or project; nothing was typed", pid, r.Handle)
			return nil, s.project.HintAside(copied, r, "if the record was copied")
		}
	}
	client, err := s.project.Client(r)
	return pane{client, *sight.Pane}, err
}

// pane is a tmux pane as a [typing.Terminal].
type pane struct {
	client *tmux.Client
	pane   tmux.Pane
}

func (p pane) Screen(ctx context.Context) (tmux.Styled, error) {
	return p.client.Styled(ctx, p.pane.ID)
}

func (p pane) Write(ctx context.Context, text string, cursor *tmux.Cursor) (bool, error) {
	return p.client.Write(ctx, p.pane, text, cursor)
}
