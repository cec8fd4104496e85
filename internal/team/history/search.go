package history

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/claude"
	"nbs-worker/internal/claude/transcript"
	"nbs-worker/internal/store/conversations"
	"nbs-worker/internal/store/journal"
	"nbs-worker/internal/team/observe"
)

// Search selects messages of all conversations of a project: of its agents, of its dismissed agents, and keyed ones.
type Search struct {
	Match *regexp.Regexp // only messages with a matching text
	Since time.Time      // only messages since then; zero: all
	Tools bool           // also what tools did, Claude's notes to itself, and subagents

	Sees      func(conversations.Key) bool // whether a keyed conversation may be searched
	Dismissed bool                         // also dismissed agents: the journal names their conversations, and has no seal
}

// Found is a message that matches, and its place.
type Found struct {
	Said

	Place

	Path     string // of the transcript
	Archived bool   // Claude has deleted the transcript: Path is the kept copy
}

// Place is whose conversation it is.
type Place struct {
	Handle    agent.Handle      // "": of no agent
	Dismissed bool              // its agent was dismissed
	Key       conversations.Key // of a keyed conversation
}

// String names the place for people.
func (p Place) String() string {
	switch {
	case p.Key != "":
		return "conversation " + string(p.Key)
	case p.Dismissed:
		return string(p.Handle) + " (dismissed)"
	}
	return string(p.Handle)
}

// talk is a conversation that is to be searched.
type talk struct {
	Place

	id     agent.SessionID
	config func() (claude.Config, error)
}

// Run reads the conversations, the present ones and the earlier ones, and passes each match to found. A conversation that
// two agents have is read once. unread gets the error of each place or conversation that cannot be read.
func (q Search) Run(ctx context.Context, o *observe.Project, found func(Found) error, unread func(Place, error)) error {
	isUnread := map[string]bool{}
	talks, err := agentsTalks(o, func(p Place, err error) {
		isUnread[p.Handle.Key()] = true
		unread(p, err)
	})
	if err != nil {
		return err
	}
	talks = append(talks, q.keyedTalks(o, unread)...)
	if q.Dismissed {
		dismissed, err := journalTalks(ctx, o, isUnread)
		if err != nil {
			return err
		}
		talks = append(talks, dismissed...)
	}
	read := map[agent.SessionID]bool{}
	for i := range talks {
		t := &talks[i]
		if read[t.id] {
			continue
		}
		read[t.id] = true
		if err := ctx.Err(); err != nil {
			return err
		}
		err := q.in(ctx, o, t, found)
		if stop, is := errors.AsType[*stopError](err); is {
			return stop.error
		}
		if err != nil {
			unread(t.Place, fmt.Errorf("conversation %s: %w", t.id, err))
		}
	}
	return nil
}

func agentsTalks(o *observe.Project, unread func(Place, error)) (talks []talk, err error) {
	all, err := o.Store.Records()
	if err != nil {
		return nil, err
	}
	for i := range all {
		r := &all[i].Record
		if all[i].Err != nil {
			unread(Place{Handle: all[i].Handle}, all[i].Err)
			continue
		}
		for _, id := range slices.Backward(r.Conversations()) {
			talks = append(talks, talk{Place{Handle: r.Handle}, id, func() (claude.Config, error) { return o.ConfigOf(r) }})
		}
	}
	return talks, nil
}

func (q Search) keyedTalks(o *observe.Project, unread func(Place, error)) (talks []talk) {
	chats := o.Store.Conversations()
	keys, broken := chats.Keys()
	if broken != nil {
		unread(Place{}, broken)
	}
	for _, key := range keys {
		if !q.Sees(key) {
			continue
		}
		state, err := chats.Of(key).State()
		if err != nil {
			unread(Place{Key: key}, err)
			continue
		}
		for _, id := range append(agent.Mapped(state.Previous, func(p conversations.Previous) agent.SessionID { return p.ID }), state.Session.ID) {
			if id != "" {
				talks = append(talks, talk{Place{Key: key}, id, func() (claude.Config, error) { return claude.ConfigAt(state.Meta.ConfigDir) }})
			}
		}
	}
	return talks
}

// journalTalks returns the conversations that the journal names. What agents have is in their records, and first. One of
// an agent whose record cannot be read may be its present one.
func journalTalks(ctx context.Context, o *observe.Project, isUnread map[string]bool) (talks []talk, err error) {
	err = Events(ctx, o.Store, EventQuery{}, func(e journal.Event) error {
		id, err := agent.ParseSessionID(string(e.SessionID))
		if _, invalid := agent.ParseHandle(string(e.Handle)); err == nil && invalid == nil {
			spec := &agent.Spec{Handle: e.Handle, ProjectRoot: o.Store.Project()}
			talks = append(talks, talk{Place{Handle: e.Handle, Dismissed: !isUnread[e.Handle.Key()]}, id, func() (claude.Config, error) { return claude.ConfigOf(spec, o.Env) }})
		}
		return nil
	}, func(string) {})
	return talks, err
}

// stopError is an error of the receiver, which ends the search.
type stopError struct{ error }

// in searches one conversation. One without a transcript has no match.
func (q Search) in(ctx context.Context, o *observe.Project, t *talk, found func(Found) error) error {
	file, archived, err := transcriptOf(o, t)
	if err != nil || file.Path == "" {
		return err
	}
	keep := func(m transcript.Message) bool { return !m.At.Before(q.Since) && q.Match.MatchString(m.Text) }
	c, err := file.Conversation(transcript.Wanted{Tools: q.Tools, Keep: keep})
	if err != nil {
		return err
	}
	return c.Each(func(m transcript.Message) error {
		if m.SessionID == "" {
			m.SessionID = t.id
		}
		if err := errors.Join(ctx.Err(), found(Found{Said: m, Place: t.Place, Path: file.Path, Archived: archived})); err != nil {
			return &stopError{err}
		}
		return nil
	})
}

// transcriptOf returns Claude's transcript of a conversation, or else the longest kept one; without a path if there is
// neither.
func transcriptOf(o *observe.Project, t *talk) (file transcript.File, archived bool, err error) {
	config, err := t.config()
	if err != nil {
		return file, false, err
	}
	file, there, err := config.Transcript(t.id)
	if there || err != nil {
		return file, false, err
	}
	kept, err := o.Store.Archive().Kept(t.id)
	if err != nil || len(kept) == 0 {
		return transcript.File{}, false, err
	}
	return transcript.At(kept[0].Path), true, nil
}
