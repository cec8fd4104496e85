package bench

import (
	"context"
	"fmt"
)

// paneFields are the six fields of a pane that a list needs.
const paneFields = "#{pid}|#{session_id}|#{pane_id}|#{pane_pid}|#{@nbs_invocation}|#{session_name}"

// compareLooks compares session and list with one tmux command each, at a size of the team.
func (w *world) compareLooks(ctx context.Context, effort Effort, agents int) ([]Pair, error) {
	last := handle(agents - 1)
	session := Pair{
		Name: "`session <handle>`", Beside: "`tmux display-message -p`", Agents: agents, Budget: Budget{Plus: 5},
	}
	var err error
	session.Floor, session.Ours, err = interleave(ctx, effort,
		w.timed("nbs-"+last, w.tmux("display-message", "-p", "-t", "=nbs-"+last+"-live:", "#{session_name}")...),
		w.timed("idle, says Claude's registry", w.nbs("session", last)...))
	if err != nil {
		return nil, fmt.Errorf("measure session: %w", err)
	}
	list := Pair{Name: "`list`", Beside: "`tmux list-panes -a`", Agents: agents}
	switch {
	case agents >= 1000:
		list.Budget = Budget{Plus: 40}
	case agents >= 100:
		list.Budget = Budget{Plus: 10}
	}
	list.Floor, list.Ours, err = interleave(ctx, effort,
		w.timed("nbs-"+last, w.tmux("list-panes", "-a", "-F", paneFields)...),
		w.timed("\t84\t0.86\t", w.nbs("list")...))
	if err != nil {
		return nil, fmt.Errorf("measure list: %w", err)
	}
	return []Pair{session, list}, nil
}
