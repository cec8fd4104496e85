package remote

import (
	"context"
	"errors"
	"strings"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/chat/bridge"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
	"nbs-worker/internal/store/deliveries"
	"nbs-worker/internal/store/requests"
	"nbs-worker/internal/team/answer"
)

// AnswerAgent answers what an agent asks, and returns when that is proved. The same user may say the same again: after a crash
// a chat does.
func (t *Team) AnswerAgent(ctx context.Context, a bridge.Answering) (bridge.Answered, error) {
	answers := answer.New(t.Supervisor.Project, nil)
	r, err := t.meant(ctx, answers, &a)
	if err != nil {
		return t.late(&a, a.Request, err)
	}
	receipt, err := answers.Answer(ctx, r.Handle, r.ID, said(&r, &a))
	if err != nil {
		return t.late(&a, r.ID, err)
	}
	return bridge.Answered{Text: string(r.Handle) + ": " + receipt.Words() + "."}, nil
}

// meant returns the request that a message answers. For a handle that is the one that was open when the message came first:
// after a crash the message comes again, and its user has not seen what the agent asks by then. The same goes for a message
// that meant none. Errors: those of asked.
func (t *Team) meant(ctx context.Context, answers *answer.Answerer, a *bridge.Answering) (requests.Request, error) {
	if answer.IsID(a.Request) {
		return asked(ctx, answers, a.Request)
	}
	note, noted, err := t.Notes.Get(a.ID + ":request")
	switch {
	case err != nil:
		return requests.Request{}, err
	case noted && !answer.IsID(note.Text):
		return requests.Request{}, fail.Errorf(fail.NotFound, "%s", note.Text)
	case noted:
		a.Request = note.Text
		return asked(ctx, answers, a.Request)
	}
	r, err := asked(ctx, answers, a.Request)
	note = deliveries.Note{ID: a.ID + ":request", Key: "@" + a.Request, State: deliveries.Over, Text: r.ID, At: t.Supervisor.Project.Now().UTC()}
	if err != nil {
		note.Text = err.Error()
	}
	if kind := fail.KindOf(err); err == nil || kind == fail.NotFound || kind == fail.BadInput { // not one that could not be looked up
		err = errors.Join(err, t.Notes.Put(note))
	}
	return r, err
}

// asked returns the open request that an id or a handle names. Errors: those of [answer.Answerer.Pick].
func asked(ctx context.Context, answers *answer.Answerer, named string) (requests.Request, error) {
	open, err := answers.List(ctx)
	if err != nil {
		return requests.Request{}, err
	}
	for i := range open {
		if open[i].ID == named {
			return open[i], nil
		}
	}
	if answer.IsID(named) {
		return requests.Request{}, answer.ErrOver
	}
	handle, err := agent.ParseHandle(named)
	if err != nil {
		return requests.Request{}, err
	}
	return answers.Pick(ctx, handle, "")
}

func said(r *requests.Request, a *bridge.Answering) answer.Say {
	say := answer.Say{Allow: a.Allow, Message: a.Message, By: a.By}
	switch several := len(answer.Describe(*r).Questions) > 1; {
	case a.Choice != "" && several:
		say.Choices = strings.Fields(a.Choice)
	case a.Choice != "":
		say.Choices = []string{a.Choice}
	}
	return say
}

// late says what became of a request before an answer came. Other errors stay errors.
func (t *Team) late(a *bridge.Answering, id string, err error) (bridge.Answered, error) {
	if !errors.Is(err, answer.ErrOver) && !errors.Is(err, answer.ErrAnswered) {
		return bridge.Answered{}, err
	}
	fate, earlier := t.Supervisor.Project.Store.Requests().FateOf(id)
	switch {
	case fate == requests.Gone || fate == requests.Open:
		return bridge.Answered{Late: true, Text: "Too late: the request is over. It was answered at the terminal, or what asked has ended."}, nil
	case earlier.By == a.By && earlier.Allow == (a.Allow || a.Choice != ""):
		return bridge.Answered{Late: true, Text: "You have " + answer.Words(&earlier) + " it."}, nil
	}
	return bridge.Answered{Late: true, Text: "Too late: it was " + answer.Words(&earlier) + " already, by " + human.Legible(earlier.By) + "."}, nil
}

// AgentOf returns the agent that a post of a conversation's chat is about; "" if the message is no such post.
func (t *Team) AgentOf(_ context.Context, key string, m bridge.Sent) (handle string, err error) {
	post, there, err := t.Notes.PostOf(key, deliveries.Number(m.Chat), deliveries.Number(m.Message))
	if !there {
		return "", err
	}
	return post.Handle, nil
}
