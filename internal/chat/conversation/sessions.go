package conversation

import (
	"context"
	"errors"
	"os"
	"slices"
	"strings"
	"unicode/utf8"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
	"nbs-worker/internal/store/conversations"
)

// Restore makes a previous session the current one again. It is named by the beginning of its id or by its name; ""
// is the one before the current one. Errors: NotFound.
func (e *Engine) Restore(ctx context.Context, key conversations.Key, named string) (agent.SessionID, error) {
	c := e.Project.Store.Conversations().Of(key)
	unlock, err := e.awaitTurn(ctx, c, "")
	if err != nil {
		return "", err
	}
	defer unlock()
	state, err := c.State()
	if errors.Is(err, os.ErrNotExist) {
		return "", ErrNone(key)
	}
	if err != nil {
		return "", err
	}
	id, err := previous(&state, named)
	if err != nil {
		return "", err
	}
	e.Warm.Drop(ctx, key)
	return id, c.Restore(ctx, id)
}

// previous returns the previous session with a name, or whose id begins so; "": the latest one. Errors: NotFound.
func previous(state *conversations.State, named string) (agent.SessionID, error) {
	all := agent.Mapped(state.Previous, func(p conversations.Previous) agent.SessionID { return p.ID })
	if named == "" {
		if len(all) == 0 {
			return "", errNoPrevious(state.Meta.Key, "the conversation has no previous session")
		}
		return all[len(all)-1], nil
	}
	return only(state, all, named)
}

// only returns the one of the sessions that has a name, or whose id begins so. Errors: NotFound.
func only(state *conversations.State, all []agent.SessionID, named string) (agent.SessionID, error) {
	found := slices.DeleteFunc(slices.Clone(all), func(id agent.SessionID) bool { return !strings.EqualFold(state.Names[id], named) })
	if len(found) == 0 {
		found = slices.DeleteFunc(slices.Clone(all), func(id agent.SessionID) bool { return !strings.HasPrefix(string(id), strings.ToLower(named)) })
	}
	slices.Sort(found)
	if found = slices.Compact(found); len(found) == 1 {
		return found[0], nil
	}
	switch current := state.Session.ID; {
	case len(found) > 1:
		return "", errNoPrevious(state.Meta.Key, human.Count(len(found), "previous session")+" are called "+human.Quote(named)+", or have ids that begin so")
	case strings.EqualFold(state.Names[current], named) || strings.HasPrefix(string(current), strings.ToLower(named)):
		return "", errNoPrevious(state.Meta.Key, human.Quote(named)+" is the present session")
	}
	return "", errNoPrevious(state.Meta.Key, "no previous session is called "+human.Quote(named)+", or has an id that begins so")
}

func errNoPrevious(key conversations.Key, why string) error {
	return fail.Errorf(fail.NotFound, "%s", why).Hint("to see them: nbs-worker conversation show %s", human.ShellWord(string(key)))
}

// CheckName checks the name of a session: one line of at most 60 characters. "" takes the name away. Errors: BadInput.
func CheckName(name string) error {
	const longest = 60
	if utf8.RuneCountInString(name) > longest || strings.ContainsAny(name, "\n\t") || !human.IsLegible(name) {
		return fail.Errorf(fail.BadInput, "name %s is not valid: use one line of at most %d characters", human.Quote(name), longest)
	}
	return nil
}

// Name gives the current session a name. Errors: BadInput; NotFound when the conversation has no session.
func (e *Engine) Name(ctx context.Context, key conversations.Key, name string) (agent.SessionID, error) {
	if err := CheckName(name); err != nil {
		return "", err
	}
	c := e.Project.Store.Conversations().Of(key)
	state, err := c.State()
	switch {
	case errors.Is(err, os.ErrNotExist):
		return "", ErrNone(key)
	case err != nil:
		return "", err
	case state.Session.ID == "":
		return "", errNoPrevious(key, "the conversation has no session yet")
	}
	return state.Session.ID, c.Name(ctx, state.Session.ID, name)
}
