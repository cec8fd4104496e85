package history

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/claude/transcript"
	"nbs-worker/internal/team/observe"
)

// Search selects messages of all conversations of a project's agents.
type Search struct {
	Match *regexp.Regexp // only messages with a matching text
	Since time.Time      // only messages since then; zero: all
	Tools bool           // also what tools did, Claude's notes to itself, and subagents
}

// Found is a message that matches, and its place.
type Found struct {
	Said

	Handle   agent.Handle
	Path     string // of the transcript
	Archived bool   // Claude has deleted the transcript: Path is the kept copy
}

// Run reads the conversations of all agents, the present ones and the earlier ones, and passes each match to found. A
// conversation that two agents have is read once. unread gets the error of each agent or conversation that cannot be
// read.
func (q Search) Run(ctx context.Context, o *observe.Project, found func(Found) error, unread func(agent.Handle, error)) error {
	all, err := o.Store.Records()
	if err != nil {
		return err
	}
	var read []agent.SessionID
	for i := range all {
		r := &all[i].Record
		if all[i].Err != nil {
			unread(all[i].Handle, all[i].Err)
			continue
		}
		for _, id := range slices.Backward(r.Conversations()) {
			if slices.Contains(read, id) {
				continue
			}
			read = append(read, id)
			if err := ctx.Err(); err != nil {
				return err
			}
			err := q.in(ctx, o, r, id, found)
			if stop, is := errors.AsType[*stopError](err); is {
				return stop.error
			}
			if err != nil {
				unread(r.Handle, fmt.Errorf("conversation %s: %w", id, err))
			}
		}
	}
	return nil
}

// stopError is an error of the receiver, which ends the search.
type stopError struct{ error }

// in searches one conversation. One without a transcript has no match.
func (q Search) in(ctx context.Context, o *observe.Project, r *agent.Record, id agent.SessionID, found func(Found) error) error {
	file, archived, err := transcriptOf(o, r, id)
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
			m.SessionID = id
		}
		if err := errors.Join(ctx.Err(), found(Found{Said: m, Handle: r.Handle, Path: file.Path, Archived: archived})); err != nil {
			return &stopError{err}
		}
		return nil
	})
}

// transcriptOf returns Claude's transcript of a conversation, or else the longest kept one; without a path if there is
// neither.
func transcriptOf(o *observe.Project, r *agent.Record, id agent.SessionID) (file transcript.File, archived bool, err error) {
	config, err := o.ConfigOf(r)
	if err != nil {
		return file, false, err
	}
	file, there, err := config.Transcript(id)
	if there || err != nil {
		return file, false, err
	}
	kept, err := o.Store.Archive().Kept(id)
	if err != nil || len(kept) == 0 {
		return transcript.File{}, false, err
	}
	return transcript.At(kept[0].Path), true, nil
}
