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
		Name: "`session <handle>`", Beside: "`tmux display-message -p`", Agents: agents, Budget: judged(agents, 8),
	}
	var err error
	session.Floor, session.Ours, err = interleave(ctx, effort,
		w.timed("nbs-"+last, w.tmux("display-message", "-p", "-t", "=nbs-"+last+"-live:", "#{session_name}")...),
		w.timed("idle, says Claude's registry", w.nbs("session", last)...))
	if err != nil {
		return nil, fmt.Errorf("measure session: %w", err)
	}
	list := Pair{Name: "`list`", Beside: "`tmux list-panes -a`", Agents: agents, Budget: judged(agents, 15)}
	list.Floor, list.Ours, err = interleave(ctx, effort,
		w.timed("nbs-"+last, w.tmux("list-panes", "-a", "-F", paneFields)...),
		w.timed("\t84\t0.86\t", w.nbs("list")...))
	if err != nil {
		return nil, fmt.Errorf("measure list: %w", err)
	}
	return []Pair{session, list}, nil
}

// judged is the budget of a team that people have. A larger one is measured and not judged: the processors decide there.
func judged(agents int, plus float64) Budget {
	if agents > 100 {
		return Budget{}
	}
	return Budget{Plus: plus}
}
