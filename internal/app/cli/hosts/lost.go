package hosts

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/app/cli/ui"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/host/move"
	"nbs-worker/internal/human"
)

// runLost brings an agent back to a machine that it has left, after a question.
func runLost(ctx context.Context, f *ui.Factory, h agent.Handle, from place, yes bool) error {
	var text bytes.Buffer
	if err := from.Run(ctx, nil, &text, "host", "give", string(h), "--look", "--force"); err != nil {
		return err
	}
	var ask move.Ask
	if err := json.Unmarshal(text.Bytes(), &ask); err != nil {
		return fail.Errorf(fail.Failed, "the answer of host give cannot be read: %w", err)
	}
	again := cancelOf(h, from)
	if !ask.HasLeft() {
		return fail.Errorf(fail.Conflict, "it has not left").Hint("to keep it there: %s", again)
	}
	f.Line(fmt.Sprintf("%s left for %s at %s, and would come back as it was then", h, ask.Place, ask.Since.UTC().Format(time.DateTime)+"Z"))
	if ask.Messages > 0 {
		f.Line(human.Count(ask.Messages, "waiting message") + " went with it, and will not be here")
	}
	f.Line("what it has done at " + ask.Place + " is not here; if that machine still has it, two agents go on with one conversation")
	if err := confirmed(ctx, f, yes, "bring "+string(h)+" back? [y/N] ", again+" --lost --yes"); err != nil {
		return err
	}
	if err := from.Run(ctx, nil, f.Streams.Out, "host", "leave", string(h), "--lost"); err != nil {
		return err
	}
	return stayed(f, h, from, true)
}
