package conversation

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/sim/rig"
	"nbs-worker/internal/store/conversations"
	"nbs-worker/internal/store/storetest"
)

// given returns the arguments of a claude that say what it may do.
func given(args []string) string {
	var said []string
	for i, arg := range args {
		if arg == "--permission-mode" {
			said = append(said, args[i+1])
		}
		if rules, is := strings.CutPrefix(arg, "--allowedTools="); is {
			said = append(said, rules)
		}
	}
	return strings.Join(said, " ")
}

// askWith takes a turn that asks for rights, as the command line does.
func (s *stage) askWith(rights conversations.Rights, powers *conversations.Powers, isolated bool) error {
	s.Helper()
	n := s.ids.Add(1)
	say := Say{Request: conversations.Request{ID: fmt.Sprintf("id %d", n), Text: "hello", At: s.now, Rights: rights, Powers: powers, Isolated: isolated}, Meta: s.meta()}
	if !isolated {
		say.Meta.Rights = rights
	}
	if _, _, err := s.Accept(s.Context(), "review", say); err != nil {
		return err
	}
	_, err := s.Await(s.Context(), "review", say.ID)
	return err
}

// The first turn says what a conversation may do. Another turn may do something else, by itself alone.
func TestRightsOfAConversation(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	begun := conversations.Rights{PermissionMode: "acceptEdits", AllowedTools: "Bash(git *)"}
	steps := []struct {
		rights   conversations.Rights
		isolated bool
		want     string
	}{
		{conversations.Rights{PermissionMode: "plan"}, true, "plan"}, // it begins nothing
		{begun, false, "acceptEdits Bash(git *)"},
		{conversations.Rights{}, false, "acceptEdits Bash(git *)"},
		{conversations.Rights{PermissionMode: "plan"}, false, "plan"},
		{conversations.Rights{AllowedTools: "Read"}, false, "acceptEdits Read"},
		{conversations.Rights{}, true, "acceptEdits Bash(git *)"},
		{conversations.Rights{}, false, "acceptEdits Bash(git *)"},
	}
	for i, step := range steps {
		rig.Must(t, s.askWith(step.rights, nil, step.isolated))
		rig.Same(t, fmt.Sprintf("turn %d", i+1), step.want, given(s.Launches()[i].Args))
		rig.Check(t, i == 0 || s.state().Meta.Rights == begun, "turn %d: the conversation has %+v", i+1, s.state().Meta.Rights)
	}
}

// A change of what a conversation may do is in its journal, and its state names what it might do before.
func TestOtherRightsAreRecorded(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	wide, narrow := conversations.Rights{PermissionMode: agent.BypassPermissions}, conversations.Rights{PermissionMode: "plan"}
	rig.Must(t, s.askWith(wide, nil, false))
	c := s.Project.Store.Conversations().Of("review")
	for range 2 {
		_, _, err := c.Permit(t.Context(), narrow)
		rig.Must(t, err)
	}
	rig.Must(t, s.askWith(conversations.Rights{}, nil, false))
	rig.Same(t, "the next turn", "plan", given(s.Launches()[1].Args))
	state := s.state()
	rig.Check(t, state.Before != nil && state.Before.Rights == wide && state.Meta.Rights == narrow && state.Era == 0, "%+v", state)
	lines, err := c.Journal()
	rig.Must(t, err)
	changes := slices.DeleteFunc(lines, func(l conversations.Line) bool { return l.What != conversations.Permitted })
	rig.Check(t, len(changes) == 1 && changes[0].Meta.Rights == narrow, "%+v", changes)
}

// An agent's turn gets no more than the agent has, and does not change what its conversation may do.
func TestAgentsOnlyNarrow(t *testing.T) {
	t.Parallel()
	for what, c := range map[string]struct {
		has   agent.PermissionMode // the agent
		meta  conversations.Rights // the conversation
		asked conversations.Rights
		want  string
	}{
		"its own":                         {"acceptEdits", conversations.Rights{}, conversations.Rights{}, "acceptEdits"},
		"less":                            {"acceptEdits", conversations.Rights{}, conversations.Rights{PermissionMode: "plan"}, "plan"},
		"more":                            {"acceptEdits", conversations.Rights{}, conversations.Rights{PermissionMode: agent.BypassPermissions}, "acceptEdits"},
		"a conversation with more":        {"plan", conversations.Rights{PermissionMode: agent.BypassPermissions, AllowedTools: "Bash"}, conversations.Rights{}, "plan"},
		"a conversation with less":        {agent.BypassPermissions, conversations.Rights{PermissionMode: "default", AllowedTools: "Read"}, conversations.Rights{}, "default Read"},
		"tools of one that may do it all": {agent.BypassPermissions, conversations.Rights{}, conversations.Rights{PermissionMode: "default", AllowedTools: "Read"}, "default Read"},
	} {
		j := &job{state: &conversations.State{Meta: conversations.Meta{Rights: c.meta}}}
		j.ask.Rights, j.ask.Powers = c.asked, &conversations.Powers{PermissionMode: c.has}
		got := j.rights()
		rig.Same(t, what, c.want, strings.TrimSpace(string(got.PermissionMode)+" "+string(got.AllowedTools)))
	}
	s := newStage(t)
	powers := &conversations.Powers{Agent: "agent alpha", PermissionMode: agent.BypassPermissions, Cwd: s.Project.Store.Project(), ConfigDir: s.Config}
	rig.Must(t, s.askWith(conversations.Rights{PermissionMode: "plan"}, powers, false))
	rig.Must(t, s.askWith(conversations.Rights{PermissionMode: "plan"}, powers, false))
	storetest.WantKind(t, "more in the same conversation", s.askWith(conversations.Rights{PermissionMode: "default"}, powers, false), fail.Held)
	rig.Must(t, s.askWith(conversations.Rights{PermissionMode: "default"}, powers, true))
	rig.Same(t, "a turn outside of it", "default", given(s.Launches()[2].Args))
}
