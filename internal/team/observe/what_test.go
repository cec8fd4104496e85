package observe

import (
	"strings"
	"testing"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/sim/rig"
)

func TestWhatAnAgentDoes(t *testing.T) {
	t.Parallel()
	const id = agent.SessionID("4f0c2a53-0d0c-4b43-9e0a-2f6b8f5c9a11")
	words := &agent.Words{SessionID: id, Prompt: "Add tests", Said: "Three tests added."}
	of := func(state agent.State, report agent.Report) Sight {
		return Sight{Record: agent.Record{Spec: agent.Spec{SessionID: id, InitialPrompt: "Fix\nthe login"}}, Status: agent.Status{State: state}, Report: report}
	}
	asks := of(agent.Waiting, agent.Report{Words: words})
	asks.Asked = &agent.Asked{Text: "Bash\nrm -rf build", Choices: []string{"Yes", "No"}}
	hidden := of(agent.Idle, agent.Report{Words: words})
	hidden.private = true
	nothing := of(agent.Idle, agent.Report{})
	nothing.Record.InitialPrompt = ""
	long := of(agent.Busy, agent.Report{})
	long.Record.InitialPrompt = strings.Repeat("x ", 9999)
	for name, c := range map[string]struct {
		sight Sight
		want  *What
	}{
		"asks":                    {asks, &What{Question, "Bash · rm -rf build [Yes / No]"}},
		"waits unknown for what":  {of(agent.Waiting, agent.Report{Words: words}), &What{Task, "Add tests"}},
		"works":                   {of(agent.Busy, agent.Report{Words: words}), &What{Task, "Add tests"}},
		"works at its first task": {of(agent.Busy, agent.Report{}), &What{Task, "Fix the login"}},
		"has answered":            {of(agent.Idle, agent.Report{Words: words}), &What{Said, "Three tests added."}},
		"is stopped":              {of(agent.Dead, agent.Report{Words: words}), &What{Said, "Three tests added."}},
		"in another conversation": {of(agent.Idle, agent.Report{Words: &agent.Words{SessionID: "other", Said: "x"}}), &What{Task, "Fix the login"}},
		"failed":                  {of(agent.TurnFailed, agent.Report{Words: words, Failure: &agent.Failure{Text: "usage limit"}}), &What{Failure, "usage limit"}},
		"of another project":      {hidden, nil},
		"unknown":                 {nothing, nil},
	} {
		got := c.sight.What()
		rig.Check(t, (got == nil) == (c.want == nil) && (got == nil || *got == *c.want), "%s: %+v; want %+v", name, got, c.want)
	}
	rig.Check(t, len(long.What().Text) <= agent.WordsLimit, "%d bytes", len(long.What().Text))
}
