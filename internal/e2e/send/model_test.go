package send

import (
	"strings"
	"testing"

	"nbs-worker/internal/e2e"
	"nbs-worker/internal/sim/rig"
)

// list and session show the model that claude runs, and how the recorded one comes to run.
func TestTheModelThatRuns(t *testing.T) {
	m := eachVersion(t)
	m.OK("spawn", "alpha", "--model", "sonnet", "--prompt", "Hello.")
	m.OK("spawn", "beta", "--prompt", "Hello.")
	runs := func(handle, name string) e2e.Session {
		return m.WaitSession(handle, "runs "+name, func(s e2e.Session) bool { return strings.HasPrefix(s.RunningModel, "claude-"+name) })
	}
	rig.Equal(m, runs("beta", "").Model, "", "the recorded model where the choice is Claude's")
	runs("alpha", "sonnet")
	m.WaitState("alpha", "idle")
	m.OK("set", "alpha", "model=haiku")
	s := runs("alpha", "sonnet")
	m.Check(len(s.Advice) == 1 && s.Advice[0] == "nbs-worker resume alpha --force", "after a change: %+v", s)
	c := m.Console(m.Command([]string{"list"}))
	c.MustShow(", not haiku")
	m.Finish(m.Command([]string{"resume", "alpha", "--force", "--prompt", "Go on."}))
	s = runs("alpha", "haiku")
	m.Check(len(s.Advice) == 0 && strings.Contains(m.OK("session", "alpha"), "haiku; it runs "+s.RunningModel+"\n"), "as recorded: %+v", s)
}
