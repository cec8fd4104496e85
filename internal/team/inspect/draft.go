package inspect

import (
	"context"
	"slices"
	"strings"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/claude/screen"
)

// Draft is an unsent text in an agent's prompt.
type Draft struct {
	Since time.Time // when it first blocked a message, or was typed
	Ours  bool      // nbs-worker typed all of it: the next message replaces it
	Mixed bool      // a person typed it, and nbs-worker typed a part of it
}

// draft returns the unsent text of an idle agent's prompt, if it has blocked a message, or if nbs-worker typed it.
func (i *Inspector) draft(ctx context.Context, view *View) *Draft {
	if view.Pane == nil || view.Record.Process == nil || view.Status.State != agent.Idle && view.Status.State != agent.TurnFailed {
		return nil
	}
	left := i.Project.Store.Outbox(view.Record.Handle).Left(view.Record.Process.Invocation)
	left.Blocks = left.BlocksAfter(view.Report.TurnEnd())
	since := left.Blocks
	if since.IsZero() {
		since = left.Since
	}
	if since.IsZero() {
		return nil
	}
	client, err := i.Project.Client(&view.Record)
	if err != nil {
		return nil
	}
	shown, err := client.Styled(ctx, view.Pane.ID)
	text, found := screen.Draft(shown.Text)
	if err != nil || !found || text == "" {
		return nil
	}
	draft := Draft{Since: since, Ours: screen.IsMadeOf(text, left.Texts...)}
	draft.Mixed = !draft.Ours && slices.ContainsFunc(left.Texts, func(ours string) bool { return strings.Contains(screen.Dense(text), screen.Dense(ours)) })
	if left.Blocks.IsZero() && !draft.Ours && !draft.Mixed { // a person is typing, and no message waits
		return nil
	}
	return &draft
}
