// Package remote carries out requests of chats and schedules, which have no terminal. It sends a message to an agent,
// resumes an agent, and creates the turn of a scheduled run.
package remote

import (
	"context"
	"fmt"
	"strings"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/human"
	"nbs-worker/internal/store/deliveries"
	"nbs-worker/internal/team/attention"
	"nbs-worker/internal/team/inspect"
	"nbs-worker/internal/team/launch"
	"nbs-worker/internal/team/message"
	"nbs-worker/internal/team/supervisor"
)

// Team lets a chat or a schedule use a project's agents. A member of an allowed chat counts as the user.
type Team struct {
	Supervisor *supervisor.Supervisor

	Notes *deliveries.Drawer // records what was begun, so that it is not done twice
	Bands agent.Bands        // of context
	Wait  time.Duration      // how long a resumed agent may take to be ready
}

// Agents lists the agents and their states.
func (t *Team) Agents(ctx context.Context) (string, error) {
	rows, err := t.Supervisor.Inspector.List(ctx)
	if err != nil || len(rows) == 0 {
		return "There are no agents.", err
	}
	judge := attention.NewJudge(t.Supervisor.Project, t.Bands)
	var lines []string
	for i, need := range judge.Rows(rows) {
		lines = append(lines, fmt.Sprintf("%s: %s", rows[i].Handle, wordsOf(&rows[i], need, judge.Now)))
	}
	return strings.Join(lines, "\n"), nil
}

// wordsOf says how an agent is: what it needs, if no person has seen that, or its state.
func wordsOf(row *inspect.Row, need *attention.Need, now time.Time) string {
	if need == nil || need.Seen {
		state, cause := row.Status.Words()
		if cause != "" {
			state += " (" + cause + ")"
		}
		return state
	}
	words := string(need.Reason)
	if !need.Since.IsZero() {
		words += " " + human.Brief(now.Sub(need.Since))
	}
	if what := human.Legible(human.OneLine(need.What)); what != "" {
		words += ": " + human.Cut(what, 200, human.Letter)
	}
	return words
}

// Send sends a text of a chat's user to an agent, as Deliver does. The user has looked at the agent with that.
func (t *Team) Send(ctx context.Context, to, id, text string) (string, error) {
	return t.send(ctx, to, id, text, func(handle agent.Handle, at time.Time) {
		_ = t.Supervisor.Project.Store.Seen().Mark(ctx, at, handle) // otherwise its need is told once more
	})
}

// Deliver sends a text to an agent, or keeps it in the agent's outbox. If an earlier attempt was interrupted, the text is
// not sent again: it may have arrived.
func (t *Team) Deliver(ctx context.Context, to, id, text string) (string, error) {
	return t.send(ctx, to, id, text, func(agent.Handle, time.Time) {})
}

// send calls sent if the agent has the text.
func (t *Team) send(ctx context.Context, to, id, text string, sent func(to agent.Handle, at time.Time)) (string, error) {
	handle, err := agent.ParseHandle(to)
	if err != nil {
		return "", err
	}
	note, there, err := t.Notes.Get(id)
	switch {
	case err != nil:
		return "", err
	case there && note.State == deliveries.Over:
		return note.Text, nil
	case there:
		return fmt.Sprintf("I was interrupted while sending it to %s: it may have arrived, be waiting in the outbox, or be lost. Check before you send it again.", handle), nil
	}
	note = deliveries.Note{ID: id, Key: "@" + string(handle), State: deliveries.Begun, At: t.Supervisor.Project.Now().UTC()}
	if err := t.Notes.Put(note); err != nil {
		return "", err
	}
	at := t.Supervisor.Project.Now()
	receipt, err := message.New(t.Supervisor).Send(ctx, handle, message.Message{Text: text, Queue: true})
	if ctx.Err() != nil {
		return "", ctx.Err()
	}
	if err == nil {
		sent(handle, at)
	}
	note.Text, err = became(receipt, err)
	note.State = deliveries.Over
	if noted := t.Notes.Put(note); noted != nil {
		return "", noted
	}
	return note.Text, err
}

// became describes the outcome of a text, from the results of [message.Sender.Send]. A kept text did not fail.
func became(r message.Receipt, err error) (string, error) {
	switch {
	case r.Outbox != "" && err != nil:
		return fmt.Sprintf("It waits in the outbox of %s: %s.", r.Handle, err), nil
	case r.Outbox != "":
		return fmt.Sprintf("It waits in the outbox of %s: %s.", r.Handle, r.Reason), nil
	case r.Word == message.Unknown:
		return fmt.Sprintf("It is unknown whether %s has it: %v. Check before you send it again.", r.Handle, err), err
	case r.Word == message.Held:
		return fmt.Sprintf("It was not sent: %v.", err), err
	default:
		return fmt.Sprintf("%s has it (%s).", r.Handle, r.Word), err
	}
}

// Resume resumes an agent.
func (t *Team) Resume(ctx context.Context, to string) (string, error) {
	handle, err := agent.ParseHandle(to)
	if err != nil {
		return "", err
	}
	started, err := t.Supervisor.Resume(ctx, handle, supervisor.Resume{Start: launch.Start{Wait: t.Wait, Patience: true}})
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%s is back, in %s.", handle, started.Record.SessionID), nil
}
