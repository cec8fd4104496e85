package chat

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/spf13/cobra"

	"nbs-worker/internal/app/cli/ui"
	"nbs-worker/internal/app/services"
	"nbs-worker/internal/app/wire"
	"nbs-worker/internal/chat/conversation"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
	"nbs-worker/internal/store/conversations"
)

// withAll adds --all to a verb that takes a key: run is called instead.
func withAll(cmd *cobra.Command, usage string, run func(ctx context.Context) error) *cobra.Command {
	var all bool
	checkKey, runKey := cmd.Args, cmd.RunE
	cmd.Flags().BoolVar(&all, "all", false, usage)
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		if all && len(args) > 0 {
			return fail.Errorf(fail.BadInput, "conversation %s: a key and --all exclude each other", cmd.Name())
		}
		if all {
			return nil
		}
		return checkKey(cmd, args)
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if all {
			return ui.Failed(run(cmd.Context()), "conversation "+cmd.Name(), "--all")
		}
		return runKey(cmd, args)
	}
	return cmd
}

// runConversationRetryAll tries the held turn of each conversation again.
func runConversationRetryAll(ctx context.Context, f *ui.Factory) error {
	s, err := f.Supervisor()
	if err != nil {
		return err
	}
	e := services.Conversations(s.Project)
	keys, broken := s.Project.Store.Conversations().WithWork()
	var held []conversations.Key
	var heads []conversations.Turn
	for _, key := range keys {
		if head, _, err := e.OpenTurn(key, 0); err == nil && head.Held != nil { // WithWork has the error
			held, heads = append(held, key), append(heads, head)
		}
	}
	if len(held) == 0 && !f.JSON {
		f.SayNote("no turn is held")
	}
	answers, sum := []wire.Answer{}, ui.Partial{Of: len(held)}
	var printing sync.Mutex
	var workers sync.WaitGroup
	places := make(chan struct{}, ui.AtOnce())
	for i, key := range held {
		places <- struct{}{}
		workers.Go(func() {
			result, over, err := retryHeld(ctx, e, key, &heads[i])
			printing.Lock()
			defer printing.Unlock()
			if over {
				answers = append(answers, wire.NewAnswer(key, result))
			}
			if err == nil && !f.JSON {
				_, err = fmt.Fprintf(f.Streams.Out, "%s: turn %d is answered\n", human.Legible(string(key)), result.Seq)
			}
			if err = ui.Failed(err, "conversation retry", string(key)); err != nil {
				f.PrintError("", err)
				sum.Failures = append(sum.Failures, err)
			}
			<-places
		})
	}
	workers.Wait()
	if f.JSON {
		broken = errors.Join(f.PrintJSON(answers), broken)
	}
	return errors.Join(broken, sum.Failed())
}

// retryHeld tries a held turn again, and waits for its result; over is false without one. Errors: also those of the
// result.
func retryHeld(ctx context.Context, e *conversation.Engine, key conversations.Key, head *conversations.Turn) (r conversations.Result, over bool, err error) {
	if err = ctx.Err(); err == nil {
		err = e.Project.Store.Conversations().Of(key).Retry(ctx, head.Seq)
	}
	if err == nil || fail.KindOf(err) == fail.Conflict { // another process was quicker
		r, err = await(ctx, e, key, head.ID, nil)
	}
	switch {
	case errors.Is(err, context.Canceled):
		return r, false, fail.Errorf(fail.Interrupted, "interrupted")
	case err != nil:
		return r, false, err
	}
	return r, true, conversation.ErrOf(key, r)
}
