package ui

import (
	"context"
	"fmt"
	"sync"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
	"nbs-worker/internal/team/message"
	"nbs-worker/internal/team/observe"
	"nbs-worker/internal/team/supervisor"
)

// How long a verb waits for agents, and what it prints while it waits.

// NoticeAfter is when a waiting verb names the agent that it waits for.
const NoticeAfter = time.Second

// Claude's shell tool ends a command after two minutes, and its output is lost. A command of an agent waits less,
// unless --timeout is given: agentLimit, or replyLimit for the reply to a message.
const (
	agentLimit = 90 * time.Second
	replyLimit = 110 * time.Second
)

// Patience returns how long a verb waits: as --timeout says, or agentLimit for an agent, or as usual.
func Patience(s *supervisor.Supervisor, given bool, usual time.Duration) (limit time.Duration, shortened bool) {
	if given || s.Caller == nil {
		return usual, false
	}
	return agentLimit, true
}

// LimitWords formats a verb's time limit for a notice.
func LimitWords(limit time.Duration) string {
	if limit == 0 {
		return ", without a limit"
	}
	return ", for at most " + limit.String()
}

// AfterASecond calls notice after a second, unless stop is called first. stop waits until notice has returned.
func AfterASecond(ctx context.Context, notice func(ctx context.Context)) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	var noticing sync.WaitGroup
	noticing.Go(func() {
		select {
		case <-time.After(NoticeAfter):
			notice(ctx)
		case <-ctx.Done():
		}
	})
	return func() { cancel(); noticing.Wait() }
}

// Sending is how one command sends messages.
type Sending struct {
	Sender  *message.Sender
	project *observe.Project
	*Factory

	message   message.Message
	shortened bool // the caller is an agent, which cannot wait long
}

// NewSending returns how to send a message. given: the caller has set the timeout.
func (f *Factory) NewSending(s *supervisor.Supervisor, m message.Message, given bool) *Sending {
	out := &Sending{Sender: message.New(s), project: s.Project, Factory: f, message: m}
	out.message.Timeout, out.shortened = Patience(s, given, m.Timeout)
	return out
}

// To sends the message to one agent.
func (s *Sending) To(ctx context.Context, handle agent.Handle) (message.Receipt, error) {
	began := time.Now()
	ours := ""
	if s.message.Reply {
		ours = "for its answer"
	}
	defer AfterASecond(ctx, func(ctx context.Context) { s.Notice(ctx, handle, began, ours) })()
	limited, cancel := ctx, func() {}
	if s.shortened && s.message.Reply {
		limited, cancel = context.WithTimeout(ctx, replyLimit)
	}
	defer cancel()
	receipt, err := s.Sender.Send(limited, handle, s.message)
	if fail.KindOf(err) == fail.Interrupted && ctx.Err() == nil && limited.Err() != nil {
		err = fail.Errorf(fail.TimedOut, "no answer within %s", replyLimit).
			Hint("to read the answer later: nbs-worker logs %s -n 1", handle)
	}
	if fail.KindOf(err) != fail.TimedOut {
		return receipt, err
	}
	late := fail.Errorf(fail.TimedOut, "%w", err)
	if receipt.Word == message.Held && s.mayQueue() {
		late = late.Hint("to have it typed when the agent is ready, add --queue")
	}
	if s.shortened {
		late = late.Hint("an agent's shell ends a command after two minutes: to wait longer, give the shell more time and add --timeout 10m")
	}
	return receipt, late
}

// mayQueue reports whether the message could be put in an outbox.
func (s *Sending) mayQueue() bool {
	return s.Verb == "send" && !s.message.Raw && !s.message.Reply && !s.message.Force
}

// Notice prints that the verb waits for the agent, and why. ours describes the wait if the turn began after the verb;
// "": no notice then.
func (s *Sending) Notice(ctx context.Context, handle agent.Handle, began time.Time, ours string) {
	r, err := s.project.Store.Load(handle)
	if err != nil {
		return
	}
	status := s.project.LookAt(ctx, r).Status
	if ctx.Err() != nil || status.State != agent.Busy && status.State != agent.Retrying && status.State != agent.Starting {
		return
	}
	what, since := "until it is ready", ""
	if status.Age != nil {
		since = " for " + human.Brief(*status.Age)
		if *status.Age < time.Since(began) {
			what = ours
		}
	}
	if what == "" {
		return
	}
	text := fmt.Sprintf("%s %s: it is %s%s; waiting %s%s", s.Verb, handle, status.Word(), since, what, LimitWords(s.message.Timeout))
	if s.mayQueue() {
		text += "; --queue keeps the message instead"
	}
	s.Say("%s", text)
}
