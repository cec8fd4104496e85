// Package answer answers what agents ask a person for. It is the only way: commands, dashboard and chats call it.
//
//   - An answer is given to one request and to no other. If the request is over, nothing happens.
//   - A receipt is proof: the agent's hook has taken the answer, and the dialog is no longer on the screen. Whatever
//     falls short of that is an error that says what is known.
//   - The journal says who gave which answer. It does not hold what was asked.
//   - An agent answers only within its rights (package caller).
package answer

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os/user"
	"slices"
	"sync"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
	"nbs-worker/internal/store/requests"
	"nbs-worker/internal/team/caller"
	"nbs-worker/internal/team/observe"
)

// ErrOver is wrapped by the Conflict about a request that is gone: answered in the terminal, or its claude has ended.
var ErrOver = errors.New("the request is over")

// ErrAnswered is wrapped by the Conflict about a request to which another gave an answer first.
var ErrAnswered = errors.New("the request is answered already")

// ErrUnproved is wrapped by the error about an answer that was given, and may not count.
var ErrUnproved = errors.New("the answer was given and is not proved")

// Answerer answers the requests of one project's agents.
type Answerer struct {
	project *observe.Project
	by      *caller.Caller
	limit   time.Duration // for each step of the proof
}

// proofLimit is how long a hook may take to take an answer, and claude to close the dialog.
const proofLimit = 15 * time.Second

// New returns the answerer of a project. by is who answers; nil: a person.
func New(project *observe.Project, by *caller.Caller) *Answerer {
	return &Answerer{project: project, by: by, limit: proofLimit}
}

// Say is what is said to a request.
type Say struct {
	Allow   bool
	Message string   // for the model, of a refusal
	Choices []string // of a question: numbers, labels or words of the user's own; Allow is then ignored
	Always  bool     // add also the rules that Claude itself suggests
	By      string   // who answers, for the journal: "telegram:7"; "": the caller, or the user's name
}

// Receipt says what was answered, after it was proved.
type Receipt struct {
	Request requests.Request
	Answer  requests.Answer
	Rules   []string // the rules that hold from now on, in words
}

// Folder returns the folder in which files change with each request and answer.
func (a *Answerer) Folder() string { return a.project.Store.Requests().Folder() }

// List returns the open requests of agents, or of all agents, the oldest first. Errors: NotFound for an agent that
// does not exist.
func (a *Answerer) List(_ context.Context, handles ...agent.Handle) ([]requests.Request, error) {
	for _, handle := range handles {
		if _, err := a.project.Store.Load(handle); err != nil {
			return nil, fmt.Errorf("%s: %w", handle, err)
		}
	}
	return a.openOf(handles...)
}

func (a *Answerer) openOf(handles ...agent.Handle) ([]requests.Request, error) {
	open, err := a.project.Store.Requests().List()
	if len(handles) == 0 || err != nil {
		return open, err
	}
	return slices.DeleteFunc(open, func(r requests.Request) bool { return !slices.ContainsFunc(handles, r.Handle.Same) }), nil
}

// Pick returns the open request of an agent that has an id. Without an id, it returns the only one. Errors: NotFound
// if nothing is asked; BadInput if several are; Conflict with ErrOver if the request with the id is over.
func (a *Answerer) Pick(_ context.Context, handle agent.Handle, id string) (requests.Request, error) {
	if _, err := a.project.Store.Load(handle); err != nil {
		return requests.Request{}, err
	}
	open, err := a.openOf(handle)
	if err != nil {
		return requests.Request{}, err
	}
	if id != "" {
		return a.withID(open, handle, id)
	}
	switch len(open) {
	case 1:
		return open[0], nil
	case 0:
		return requests.Request{}, fail.Errorf(fail.NotFound, "no request of it is open").
			Hint("to see whether it waits: nbs-worker list").
			Hint("a dialog that is no request is answered in its terminal: nbs-worker attach %s", handle)
	}
	several := fail.Errorf(fail.BadInput, "%s of it are open; which one?", human.Count(len(open), "request"))
	for i := range open {
		_ = several.Hint("%s  %s", open[i].ID, Describe(open[i]).Title)
	}
	return requests.Request{}, several
}

func (a *Answerer) withID(open []requests.Request, handle agent.Handle, id string) (requests.Request, error) {
	for i := range open {
		if open[i].ID == id {
			return open[i], nil
		}
	}
	all, err := a.project.Store.Requests().List()
	if err != nil {
		return requests.Request{}, err
	}
	for i := range all {
		if all[i].ID == id {
			return requests.Request{}, fail.Errorf(fail.NotFound, "the request %s is one of %s", id, all[i].Handle).
				Hint("nbs-worker requests %s", handle)
		}
	}
	if fate, earlier := a.project.Store.Requests().FateOf(id); fate == requests.Taken {
		return requests.Request{}, answered(id, earlier.By)
	}
	return requests.Request{}, over(id)
}

// over returns the error about a request that is gone.
func over(id string) error {
	return fail.Errorf(fail.Conflict, "%w: %s was answered in the terminal, or what asked it has ended; nothing was done", ErrOver, human.Word(id)).
		Hint("to see what is asked now: nbs-worker requests")
}

// answered returns the error about a request that has an answer.
func answered(id, by string) error {
	return fail.Errorf(fail.Conflict, "%w: %s, by %s; nothing was done", ErrAnswered, human.Word(id), human.Legible(cmp.Or(by, "another"))).
		Hint("to see what is asked now: nbs-worker requests")
}

// who returns the name under which an answer is given.
func (a *Answerer) who(say *Say) string {
	switch {
	case a.by != nil: // an agent does not choose its name
		return a.by.String()
	case say.By != "":
		return say.By
	}
	return userName()
}

var userName = sync.OnceValue(func() string {
	if now, err := user.Current(); err == nil && now.Username != "" {
		return now.Username
	}
	return "the user"
})
