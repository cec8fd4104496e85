package remote

import (
	"nbs-worker/internal/chat/conversation"
	"nbs-worker/internal/chat/schedule"
	"nbs-worker/internal/store/conversations"
)

// Scheduled returns the isolated turn of a scheduled run, and its key. Errors: those of [schedule.Entry.Words].
func Scheduled(e *conversation.Engine, due schedule.Due) (conversations.Key, conversation.Say, error) {
	words, err := due.Entry.Words(e.Project.Store.Project(), e.Project.Store.Allowed().Check)
	if err != nil {
		return "", conversation.Say{}, err
	}
	meta, err := e.Founding()
	return conversations.Key(due.Entry.Key()), conversation.Say{Meta: meta, Request: conversations.Request{
		ID: due.ID(), Text: words, Command: due.Entry.Command, Model: due.Entry.Model, Isolated: true, SystemPrompt: due.Entry.SystemPrompt, Silence: due.Entry.Silence,
		Rights: due.Entry.Rights, FailDenied: due.Entry.OnDenied == schedule.DeniedFail,
		Enrich: due.Entry.Enrich, MemoryOf: conversations.Key(due.Entry.DeliverTo), At: e.Project.Now().UTC(),
	}}, err
}

// Told returns an answer for a chat, below what else the user has to know.
func Told(r *conversations.Result) string {
	if r.Notice == "" {
		return r.Answer
	}
	return r.Notice + "\n\n" + r.Answer
}
