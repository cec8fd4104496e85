package wait

import (
	"testing"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/sim/rig"
	"nbs-worker/internal/team/attention"
)

func TestConditions(t *testing.T) {
	t.Parallel()
	level := func(used int) *agent.ContextUse { return &agent.ContextUse{UsedPercent: used} }
	dead := agent.Status{State: agent.Dead, Cause: agent.Crashed}
	failed := agent.Status{State: agent.TurnFailed, Detail: "rate limit"}
	for _, c := range []struct {
		text string
		is   Waited
		want bool
	}{
		{"idle", Waited{Status: agent.Status{State: agent.Idle}}, true},
		{"idle", Waited{Status: agent.Status{State: agent.Waiting}}, false},
		{"ready", Waited{Status: agent.Status{State: agent.Idle}}, true},
		{"ready", Waited{Status: agent.Status{State: agent.Idle}, notLoggedIn: true}, false},
		{"ready", Waited{Status: failed}, true},
		{"idle", Waited{Status: failed}, false},
		{"done", Waited{Status: failed}, false},
		{"failed", Waited{Status: failed}, true},
		{"done", Waited{Status: agent.Status{State: agent.Idle}}, false},
		{"done", Waited{Status: agent.Status{State: agent.Idle}, done: true}, true},
		{"done", Waited{Status: agent.Status{State: agent.Busy}, done: true}, false},
		{"needs", Waited{Status: agent.Status{State: agent.Waiting}}, false},
		{"needs", Waited{Status: dead, Need: &attention.Need{Reason: attention.Down}}, true},
		{"gone", Waited{Status: dead}, true},
		{"gone", Waited{Status: agent.Status{State: agent.Unknown}}, false},
		{"context-below=25%", Waited{Status: agent.Status{State: agent.Busy}, Context: level(76)}, true},
		{"context-below=25", Waited{Status: agent.Status{State: agent.Busy}, Context: level(75)}, false},
		{"context-below=25%", Waited{Status: agent.Status{State: agent.Busy}}, false},
		{"context-below=25%", Waited{Status: dead, Context: level(90)}, false},
	} {
		condition, err := ParseCondition(c.text)
		rig.Check(t, err == nil && condition.holds(&c.is) == c.want, "%s of %+v: want %t; %v", c.text, c.is, c.want, err)
	}
}
