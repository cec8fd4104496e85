package chat

import (
	"context"
	"errors"

	"nbs-worker/internal/chat/conversation"
	"nbs-worker/internal/chat/serve/client"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
	"nbs-worker/internal/store/conversations"
)

// ask runs one turn, through the project's server if there is one. An interrupted turn is left to the next caller.
func ask(ctx context.Context, e *conversation.Engine, key conversations.Key, say conversation.Say, heard func(text string)) (conversations.Result, error) {
	accepted, before, err := e.Accept(ctx, key, say)
	if err != nil {
		return conversations.Result{}, err
	}
	if before != nil {
		return *before, nil
	}
	result, err := await(ctx, e, key, say.ID, heard)
	if errors.Is(err, context.Canceled) {
		return result, fail.Errorf(fail.Interrupted, "interrupted; the text is kept as turn %d", accepted.Seq).
			Hint("to give it up: nbs-worker conversation skip %s %d", human.ShellWord(string(key)), accepted.Seq).
			Hint("to get the answer: nbs-worker conversation retry %s %d", human.ShellWord(string(key)), accepted.Seq)
	}
	if kind := fail.KindOf(err); err != nil && kind != fail.Held && kind != fail.NotFound { // those say it themselves
		return result, fail.Errorf(kind, "%w; the text is kept as turn %d", err, accepted.Seq).
			Hint("to get the answer: nbs-worker conversation retry %s %d", human.ShellWord(string(key)), accepted.Seq)
	}
	return result, err
}

// await waits for the answer to an accepted turn. If the project has a server, it asks the server, which may keep the
// conversation's claude warm.
func await(ctx context.Context, e *conversation.Engine, key conversations.Key, id string, heard func(text string)) (conversations.Result, error) {
	moving, stop := e.Moving(ctx, key, id)
	result, served, err := client.Await(moving, e.Project.Store, key, id, heard)
	stop()
	switch {
	case !served:
		return e.Await(ctx, key, id)
	case errors.Is(err, context.Canceled) && ctx.Err() == nil:
		return result, fail.Errorf(fail.TimedOut, "nbs-worker serve gave no answer: %w", context.Cause(moving))
	}
	return result, err
}
