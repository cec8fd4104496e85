package chat

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/app/cli/ui"
	"nbs-worker/internal/chat/conversation"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/store/conversations"
	"nbs-worker/internal/team/message"
	"nbs-worker/internal/team/supervisor"
)

// runAskAgent asks an agent in its terminal: a second process on its conversation would fork it.
func runAskAgent(ctx context.Context, f *ui.Factory, s *supervisor.Supervisor, name string, o *askOptions) error {
	handle, err := agent.ParseHandle(name)
	if err != nil {
		return err
	}
	if len(o.ask.ClaudeArgs) > 0 || o.ask.ContextCmd != "" || o.ask.Enrich || o.prompt != "" || o.ask.Model != "" || o.ask.Isolated || o.ask.Command || o.ask.Rights != (conversations.Rights{}) {
		return fail.Errorf(fail.BadInput, "an agent in its terminal keeps its own conversation and settings").
			Hint("to ask a copy: nbs-worker ask @%s TEXT --fork", handle)
	}
	if !o.timeoutGiven {
		o.ask.Timeout = conversation.TurnTimeout
	}
	begun := time.Now()
	sender := f.NewSending(s, message.Message{Text: o.words, Reply: true, Timeout: o.ask.Timeout}, o.timeoutGiven)
	receipt, err := sender.To(ctx, handle)
	if err != nil || receipt.Answer == nil {
		return err
	}
	r, err := s.Project.Store.Load(receipt.Handle)
	if err != nil {
		return err
	}
	return answered(f, conversations.Key("@"+receipt.Handle), conversations.Result{
		Answer: *receipt.Answer, Continuity: conversations.Resumed, SessionID: r.SessionID, DurationMS: time.Since(begun).Milliseconds(),
	}, "")
}

// forkOf returns a turn on a copy of an agent's conversation. The original does not change.
func forkOf(s *supervisor.Supervisor, name string, ask conversations.Request, meta conversations.Meta) (conversation.Say, conversations.Key, error) {
	handle, err := agent.ParseHandle(name)
	if err != nil {
		return conversation.Say{}, "", err
	}
	r, err := s.Project.Store.Load(handle)
	if err != nil {
		return conversation.Say{}, "", err
	}
	if err := s.Caller.CheckPerson("ask a copy of an agent's conversation"); err != nil {
		return conversation.Say{}, "", err
	}
	if err := s.Project.Store.CheckSeal(&r); err != nil { // claude gets the folder and the configuration that it names
		return conversation.Say{}, "", err
	}
	ask.Isolated, ask.Fork = true, r.SessionID
	meta.Cwd, meta.ConfigDir = r.LaunchCwd(), r.ConfigDir
	if ask.Model == "" {
		ask.Model = r.Model
	}
	return conversation.Say{Request: ask, Meta: meta}, conversations.Key("fork:" + string(r.Handle)), nil
}

// noteNamesake says that a key which begins a conversation is the handle of an agent, which the turn does not reach.
func noteNamesake(f *ui.Factory, s *supervisor.Supervisor, key conversations.Key) {
	h, err := agent.ParseHandle(string(key))
	if err != nil {
		return
	}
	if _, err := s.Project.Store.Load(h); err != nil {
		return
	}
	if _, err := s.Project.Store.Conversations().Of(key).State(); errors.Is(err, fs.ErrNotExist) {
		f.SayNote(f.Pasteable(fmt.Sprintf("this begins the conversation %s, without a terminal; to ask the agent %[1]s: nbs-worker ask @%[1]s TEXT", h)))
	}
}
