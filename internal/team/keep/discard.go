package keep

import (
	"nbs-worker/internal/agent"
	"nbs-worker/internal/claude"
	"nbs-worker/internal/claude/transcript"
	"nbs-worker/internal/claude/transcript/parts"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/store/archive"
)

// Discard removes the kept transcripts of a dismissed agent, except those of conversations that another record names
// and those that are the only copy. It returns the ones that stay. It ignores agents of other projects: if one has
// the same conversation, in a copy of the project, it has Claude's transcript, and its next look keeps that again.
func (k *Keeper) Discard(r *agent.Record) ([]string, error) {
	if allowed, err := k.Project.Store.IsAllowed(r); !allowed {
		return k.KeptPaths(r), err // its record may name conversations of other agents
	}
	config, err := k.Project.ConfigOf(r)
	if err != nil {
		return nil, err
	}
	named, err := k.namedByOthers(r.Handle)
	if err != nil {
		return nil, err
	}
	var stay []string
	for _, id := range r.Conversations() {
		if named[id] {
			continue
		}
		kept, err := k.KeptOf(id)
		if err != nil {
			return stay, err
		}
		hasMessages, hasErr := config.HasMessages(id)
		if kept != nil && hasErr == nil && hasMessages {
			if kept, err = k.OnlyKept(config, id); err != nil {
				return stay, err
			}
		}
		if kept != nil {
			stay = append(stay, kept.Path)
			continue
		}
		if err := k.Project.Store.Archive().Remove(id); err != nil {
			return stay, err
		}
	}
	return stay, nil
}

// OnlyKept finds a kept transcript with content that Claude's transcript lacks, such as what was said before it was
// deleted in the middle of the conversation; nil if Claude's has everything.
func (k *Keeper) OnlyKept(config claude.Config, id agent.SessionID) (*archive.Kept, error) {
	file, _, err := config.Transcript(id)
	if err != nil {
		return nil, err
	}
	all, err := k.Project.Store.Archive().Kept(id)
	if err != nil {
		return nil, err
	}
	for _, kept := range all {
		has, err := parts.Has(file, transcript.At(kept.Path))
		if err != nil {
			return nil, err
		}
		if !has {
			return &kept, nil
		}
	}
	return nil, nil
}

// namedByOthers returns the conversations of the other agents. It fails on an unreadable record, which may name any
// conversation.
func (k *Keeper) namedByOthers(handle agent.Handle) (map[agent.SessionID]bool, error) {
	handles, err := k.Project.Store.Handles()
	if err != nil {
		return nil, err
	}
	named := map[agent.SessionID]bool{}
	for _, other := range handles {
		if other.Same(handle) {
			continue
		}
		r, err := k.Project.Store.Load(other)
		if fail.KindOf(err) == fail.NotFound && err != nil {
			continue
		}
		if err != nil {
			return nil, err
		}
		for _, id := range r.Conversations() {
			named[id] = true
		}
	}
	return named, nil
}
