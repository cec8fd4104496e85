package serve

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"nbs-worker/internal/chat/conversation"
	"nbs-worker/internal/chat/schedule"
	"nbs-worker/internal/claude/turn"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
	"nbs-worker/internal/store/conversations"
)

// causes says why a turn is held, by class, in words for those who write in a chat.
var causes = map[turn.Class]string{
	turn.Authentication:     "Claude is not logged in on its machine",
	turn.Overloaded:         "Claude is overloaded",
	turn.ServerError:        "Claude's API has a fault",
	turn.Limit:              "The usage limit of Claude is reached",
	turn.Killed:             "Claude was ended in the middle of the turn",
	conversation.ClassInUse: "The conversation is open somewhere else",
	"unknown":               "Claude ended in the middle of the turn",
}

// heldWords says why a turn is held: "Claude is overloaded (529 Overloaded)". What Claude says of a login asks to type
// /login, which does nothing in a chat.
func heldWords(h *conversations.Held) string {
	const longest = 300 // characters
	cause := cmp.Or(causes[turn.Class(h.Class)], "Claude failed")
	if h.Reason == "" || turn.Class(h.Class) == turn.Authentication {
		return cause
	}
	return fmt.Sprintf("%s (%s)", cause, human.Cut(human.OneLine(h.Reason), longest, human.Letter))
}

// heldError returns the error of a stop that found the turn held, in words for those who write in the chat.
func heldError(of *conversations.Conversation, seq int, err error) error {
	state, unread := of.State()
	if held := state.Held(); unread == nil && held != nil {
		return fail.Errorf(fail.Held, "message %d is held: %s", seq, heldWords(held))
	}
	return err
}

// soon is how long a run may wait without a word to its chat.
const soon = time.Minute

// tellHeld tells the chat of a run, once, why the run waits. Later causes that may end by themselves are not told.
func (s *Schedules) tellHeld(ctx context.Context, due schedule.Due, h *conversations.Held) {
	to, key := due.Entry.DeliverTo, due.Entry.Key()
	again := ""
	id := due.ID() + ":held"
	switch now := s.Server.Engine.Project.Now(); {
	case to == "" || s.Server.Tell == nil:
		return
	case h.Mends:
		again = "It is tried again now and then."
	case h.Until.IsZero():
		id = due.ID() + ":dead"
		again = "It waits for a person at the machine: nbs-worker conversation retry " + human.ShellWord(key)
	case h.Until.Sub(now) < soon:
		return
	default:
		again = fmt.Sprintf("It is tried again at %s.", clockOf(due, h.Until))
	}
	text := fmt.Sprintf("The schedule %s waits: %s. %s", due.Entry.Name, heldWords(h), again)
	if err := s.Server.tellOnce(ctx, s.Notes, id, to, text, s.teller(due, s.Server.Tell)); err != nil && ctx.Err() == nil {
		s.Server.Said("schedules: %s: %s was not told why it waits: %s", due.Entry.Name, to, err)
	}
}

// teller tells a chat something of a run, and its conversation too.
func (s *Schedules) teller(due schedule.Due, tell func(ctx context.Context, to, text string) error) func(ctx context.Context, to, text string) error {
	return func(ctx context.Context, to, text string) error {
		return s.Server.deliver(ctx, to, "schedule "+due.Entry.Name, text, tell)
	}
}

// clockOf formats a time on the clock of a run's schedule.
func clockOf(due schedule.Due, at time.Time) string {
	return due.Entry.Times.In(at).Format("15:04 on 2 January")
}

// stale is how late an outcome may be that does not say when it was due.
const stale = time.Hour

// lateness says when a run was due that is over late, and which later ones were left out for that. "": it is not late.
func (s *Schedules) lateness(due schedule.Due, over time.Time) string {
	if over.Sub(due.ScheduledFor) < stale {
		return ""
	}
	words := fmt.Sprintf("This was due at %s.", clockOf(due, due.ScheduledFor))
	lasts, err := s.Server.Engine.Project.Store.Schedules().Recall()
	last := lasts[due.Entry.Name]
	if err != nil || last.Skipped == 0 || !last.ScheduledFor.Equal(due.ScheduledFor) {
		return words
	}
	were := "were left out, the last"
	if last.Skipped == 1 {
		were = "was left out, that"
	}
	return fmt.Sprintf("%s %s %s at %s, because this one was not over.", words, human.Count(last.Skipped, "later run"), were, clockOf(due, last.SkippedTo))
}

// waitingFor says which schedules of a chat wait, and why.
func (c *Chats) waitingFor(key string) (lines []string) {
	in := c.Server.Engine.Project.Store
	file, _, err := AllowedSchedules(in)
	if err != nil { // nothing runs
		return nil
	}
	for _, e := range file.Entries {
		if e.DeliverTo == "" || c.Server.home(e.DeliverTo) != key {
			continue
		}
		state, err := in.Conversations().Of(conversations.Key(e.Key())).State()
		if held := state.Held(); err == nil && held != nil {
			lines = append(lines, fmt.Sprintf("The schedule %s waits: %s.", e.Name, heldWords(held)))
		}
	}
	return lines
}
