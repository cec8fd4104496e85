package observer

import (
	"errors"
	"io/fs"
	"slices"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
	"nbs-worker/internal/store/conversations"
	"nbs-worker/internal/store/spool"
)

// names returns the agents, and the conversations that may have new text: all of them, or those that were announced or
// have owed turns.
func (w *Worker) names(all bool, waiting []spool.Announcement) ([]agent.Handle, error) {
	names, err := w.Project.Store.Handles()
	if err != nil {
		return nil, err
	}
	var chats []agent.Handle
	add := func(name agent.Handle) {
		if _, is := name.Conversation(); is && !slices.Contains(chats, name) {
			chats = append(chats, name)
		}
	}
	for _, a := range waiting {
		add(a.Handle)
	}
	for id := range w.owed {
		add(w.observers[id].of.record.Handle)
	}
	if all {
		keys, _ := w.Project.Store.Conversations().Keys() // the list of conversations reports unreadable ones
		for _, key := range keys {
			add(agent.OfConversation(string(key)))
		}
	}
	return append(names, chats...), nil
}

// load returns an agent's record. A conversation is described as an agent's record, with its sessions. Errors: NotFound.
func (w *Worker) load(name agent.Handle) (agent.Record, error) {
	key, is := name.Conversation()
	if !is {
		return w.Project.Store.Load(name)
	}
	state, err := w.Project.Store.Conversations().Of(conversations.Key(key)).State()
	if errors.Is(err, fs.ErrNotExist) {
		err = fail.Errorf(fail.NotFound, "there is no conversation %s", human.Quote(key))
	}
	if err != nil {
		return agent.Record{}, err
	}
	r := agent.Record{Spec: agent.Spec{
		Schema: agent.Schema, Handle: name, SessionID: state.Session.ID, Cwd: state.Meta.Cwd, ConfigDir: state.Meta.ConfigDir,
		ProjectRoot: w.Project.Store.Project(), Memory: state.Meta.Memory,
	}}
	for _, p := range state.Previous {
		r.PreviousSessions = append(r.PreviousSessions, agent.PreviousSession{SessionID: p.ID, Until: p.Until, Reason: p.Reason})
	}
	return r, nil
}

// sessions returns the present and the previous session ids of a record. A conversation may have no present one.
func sessions(r *agent.Record) []agent.SessionID {
	return slices.DeleteFunc(r.Conversations(), func(id agent.SessionID) bool { return id == "" })
}

// isTaken reports whether an agent or a conversation has a session, or had it. It also returns true if that cannot be
// read.
func (w *Worker) isTaken(id agent.SessionID) bool {
	names, err := w.names(true, nil)
	return err != nil || slices.ContainsFunc(names, func(name agent.Handle) bool {
		r, err := w.load(name)
		return err != nil || slices.Contains(r.Conversations(), id)
	})
}
