package keep

import (
	"nbs-worker/internal/agent"
	"nbs-worker/internal/claude"
	"nbs-worker/internal/claude/transcript"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/store/archive"
)

// Discard removes what is kept of the conversations of an agent that was dismissed, but for
// those that another record names and those of which nothing else is left. It returns what
// stays. Agents of other projects are not considered: one that has a conversation too, in a
// copy of the project, has Claude's transcript of it, and its next look keeps that again.
func (k *Keeper) Discard(r *agent.Record) ([]string, error) {
	if allowed, err := k.Store.IsAllowed(r); !allowed {
		return k.KeptPaths(r), err // the conversations that it names may be anybody's
	}
	config, err := k.ConfigOf(r)
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
		if err := k.Store.Archive().Remove(id); err != nil {
			return stay, err
		}
	}
	return stay, nil
}

// OnlyKept finds a kept transcript with something that Claude's has not, such as what came before
// it was deleted in the middle of the conversation. nil when Claude has all of it.
func (k *Keeper) OnlyKept(config claude.Config, id agent.SessionID) (*archive.Kept, error) {
	file, _, err := config.Transcript(id)
	if err != nil {
		return nil, err
	}
	all, err := k.Store.Archive().Kept(id)
	if err != nil {
		return nil, err
	}
	for _, kept := range all {
		has, err := file.Has(transcript.At(kept.Path))
		if err != nil {
			return nil, err
		}
		if !has {
			return &kept, nil
		}
	}
	return nil, nil
}

// namedByOthers are the conversations of the other agents. A record that cannot be read may
// name any.
func (k *Keeper) namedByOthers(handle agent.Handle) (map[agent.SessionID]bool, error) {
	handles, err := k.Store.Handles()
	if err != nil {
		return nil, err
	}
	named := map[agent.SessionID]bool{}
	for _, other := range handles {
		if other.Same(handle) {
			continue
		}
		r, err := k.Store.Load(other)
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
