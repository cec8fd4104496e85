package chat

import (
	"errors"
	"slices"
	"strconv"

	"github.com/spf13/cobra"

	"nbs-worker/internal/app/cli/ui"
	"nbs-worker/internal/app/wire"
	"nbs-worker/internal/chat/conversation"
	"nbs-worker/internal/claude/turn"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
	"nbs-worker/internal/store/conversations"
)

func newConversationQueueCmd(f *ui.Factory) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "queue [<key>]",
		Short: "List the turns that are not answered yet",
		Long: ui.WithCodes(`Lists the open turns of one conversation, or of all, in the order in which they are answered. In
a pipe the columns are key, number, state, attempts, time of the next attempt, reason, and the
beginning of the text.`, fail.Failed, fail.NotFound, fail.BadInput, fail.Held),
		Example: `  nbs-worker conversation queue
  nbs-worker conversation queue --json | jq '.[]|select(.state=="dead")'`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 {
				return fail.Errorf(fail.BadInput, "conversation queue takes at most one key").Hint("nbs-worker conversation queue")
			}
			return nil
		},
		ValidArgsFunction: completeKeys(f),
		RunE: func(_ *cobra.Command, args []string) error {
			return ui.Failed(runConversationQueue(f, args), "conversation queue")
		},
	}
	return f.WithJSON(cmd)
}

func runConversationQueue(f *ui.Factory, named []string) error {
	s, err := f.Supervisor()
	if err != nil {
		return err
	}
	e := conversation.New(s.Project)
	var keys []conversations.Key
	var broken error
	if len(named) == 0 {
		keys, broken = e.Project.Store.Conversations().WithWork()
		keys = slices.DeleteFunc(keys, func(key conversations.Key) bool { return !s.Caller.Sees(key) })
	} else {
		key, err := s.Caller.Key(named[0])
		if err != nil {
			return err
		}
		keys = []conversations.Key{key}
	}
	open := []wire.OpenTurn{}
	for _, key := range keys {
		c, err := present(e, key)
		if err != nil { // the others are still listed
			broken = errors.Join(broken, err)
			continue
		}
		open = append(open, c.Open...)
	}
	if f.JSON {
		return errors.Join(f.PrintJSON(open), broken)
	}
	t := f.NewTable("KEY", "NUMBER", "STATE", "ATTEMPTS", "AGAIN", "REASON", "TEXT")
	t.Under = 2
	for _, w := range open {
		again := ui.Text("")
		if w.Until != nil {
			again = t.Time(*w.Until)
		}
		t.Row(ui.Text(string(w.Key)), ui.Text(strconv.Itoa(w.Seq)), ui.Text(w.State), ui.Text(strconv.Itoa(w.Attempts)), again, ui.Text(w.Reason), ui.Text(w.Text))
	}
	broken = errors.Join(t.Flush(), broken)
	noteHeld(f, open)
	return broken
}

// noteHeld says, for the first turn that is held, what a person can do about it.
func noteHeld(f *ui.Factory, open []wire.OpenTurn) {
	i := slices.IndexFunc(open, func(w wire.OpenTurn) bool { return w.State == "held" || w.State == "dead" })
	if i < 0 {
		return
	}
	if open[i].Class == string(turn.Authentication) {
		f.Note("to log in: start claude once by hand, and type /login: claude")
	}
	key := human.ShellWord(string(open[i].Key))
	f.Note("to try it now: nbs-worker conversation retry %s", key)
	f.Note("to give it up: nbs-worker conversation skip %s %d", key, open[i].Seq)
}
