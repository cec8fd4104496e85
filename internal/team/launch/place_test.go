package launch

import (
	"context"
	"slices"
	"strings"
	"testing"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/platform/tmux"
)

// sessions is a tmux server that a test has thought up: what it has, and what was made in it.
type sessions struct {
	taken []string // names
	fails error    // in place of a window
	made  []string
}

func (s *sessions) NewSession(_ context.Context, spec tmux.Spec) error {
	if slices.Contains(s.taken, spec.Name) {
		return tmux.ErrDuplicate
	}
	s.made = append(s.made, "session "+spec.Name)
	return nil
}

func (s *sessions) NewWindow(_ context.Context, session string, _ tmux.Spec) error {
	if s.fails != nil {
		return s.fails
	}
	s.made = append(s.made, "window in "+session)
	return nil
}

// A name in tmux is anybody's: also one that was the agent's a moment ago.
func TestPlaceOfAStart(t *testing.T) {
	t.Parallel()
	own, last := []tmux.Pane{{Session: "usual", SessionID: "$1", SessionOwner: "project/alpha"}}, []tmux.Pane{{Session: "usual", SessionID: "$1", SessionInvocation: "before"}}
	stranger := []tmux.Pane{{Session: "usual", SessionID: "$1", SessionOwner: "project/beta", SessionInvocation: "other"}}
	renamed := []tmux.Pane{{Session: "mine", SessionID: "$1", SessionOwner: "project/alpha"}}
	for what, c := range map[string]struct {
		panes  []tmux.Pane
		server sessions
		want   string
	}{
		"nothing is there":                  {nil, sessions{}, "session usual"},
		"the agent's session, of a person":  {own, sessions{}, "window in $1"},
		"the session of the last start":     {last, sessions{}, "window in $1"},
		"it ends meanwhile":                 {own, sessions{fails: tmux.ErrNoSession}, "session usual"},
		"it cannot be told":                 {own, sessions{fails: fail.Errorf(fail.TimedOut, "silent")}, ""},
		"the name is a stranger's":          {stranger, sessions{taken: []string{"usual"}}, "session other"},
		"a stranger takes it meanwhile":     {own, sessions{taken: []string{"usual"}, fails: tmux.ErrNoSession}, "session other"},
		"the agent's own under a new name":  {renamed, sessions{}, "session usual"},
		"both names are those of strangers": {nil, sessions{taken: []string{"usual", "other"}}, ""},
	} {
		spec := tmux.Spec{Owner: "project/alpha"}
		name, err := place(t.Context(), &c.server, []string{"usual", "other"}, c.panes, &agent.Process{Invocation: "before"}, spec)
		if made := strings.Join(c.server.made, ", "); made != c.want || (err != nil) != (made == "") || err == nil && !strings.HasSuffix(made, "$1") && !strings.HasSuffix(made, name) {
			t.Errorf("%s: %s, %q, %v; want %s", what, made, name, err, c.want)
		}
	}
}
