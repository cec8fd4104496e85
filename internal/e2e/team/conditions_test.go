package team

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"nbs-worker/internal/e2e"
)

const conditions = `version: 1
agents:
  lead:
    prompt: Remember 1. [[until go]]
  early:
    depends_on: {lead: {condition: started}}
  next:
    depends_on: [lead]
  later:
    depends_on: {lead: {condition: idle}}
  last:
    depends_on: {lead: {condition: first-turn-done}}
  extra:
    prompt: Remember 2. [[until stop]]
    profiles: [more]
`

// notes waits for words on the stderr of a command that runs.
func (c *crew) notes(r *e2e.Running, said *e2e.LockedBuffer, words ...string) {
	c.Helper()
	for _, word := range words {
		c.WaitFor(word, func() (bool, string) { return strings.Contains(said.String(), word), said.String() })
	}
	c.Check(r.ProcessState == nil, "it has ended")
}

// begins runs a command whose stderr can be read while it runs.
func (c *crew) begins(args ...string) (*e2e.Running, *e2e.LockedBuffer) {
	c.Helper()
	said := &e2e.LockedBuffer{}
	r := &e2e.Running{Cmd: c.Command(args), Team: c.Team}
	r.Stdout, r.Stderr = &r.Out, said
	c.Must(r.Start())
	return r, said
}

// An agent starts when those that it depends on are as it needs them, and not before.
func TestConditions(t *testing.T) {
	c := standIn(t)
	c.has(conditions)
	up, said := c.begins("up")
	c.notes(up, said, "later waits until lead is idle", "last waits until lead is first-turn-done")
	c.WaitState("early", "idle")
	c.WaitState("next", "idle")
	for _, handle := range []string{"later", "last", "extra"} {
		_, err := os.Stat(c.RecordPath(handle))
		c.Check(os.IsNotExist(err), "%s was started before its time", handle)
	}
	c.MustBe("lead", "busy")
	c.API.Release("go")
	c.Check(up.End().Code == 0, "up: %s", said)
	c.WaitState("later", "idle")
	c.WaitState("last", "idle")
	c.is(c.says("up"), "lead:keep early:keep next:keep later:keep last:keep")

	c.Refused(7, "extra: not idle within 10ms: extra is busy", "up", "--profile", "more", "--wait", "--timeout", "10ms")
	c.MustBe("extra", "busy")
	up, said = c.begins("up", "--profile", "more", "--wait")
	c.notes(up, said, "up waits until extra is idle")
	c.API.Release("stop")
	c.Check(up.End().Code == 0, "up --wait: %s", said)
	c.MustBe("extra", "idle")
	c.OK("down", "extra")
	c.is(c.says("up", "extra"), "extra:resume") // whose name stands for its profile
}

// An agent that does not come back from a rolling restart is shown as it is, and comes back with the next one.
func TestARestartThatDoesNotComeBack(t *testing.T) {
	c := standIn(t)
	c.has("version: 1\nagents:\n  alpha: {model: sonnet}\n  beta: {model: sonnet}\n")
	c.OK("up")
	alpha, beta := c.WaitState("alpha", "idle"), c.WaitState("beta", "idle")
	c.has("version: 1\nagents:\n  alpha: {model: opus}\n  beta: {model: opus}\n")
	r := c.NBSWith([]string{"NBS_SIM_CLAUDE=die-after=1ms,die-code=7"}, "restart", "--rolling")
	c.Check(r.Code != 0 && strings.Contains(r.Stderr, "(code 7)") && strings.Contains(r.Stderr, "not restarted, because alpha did not come back"), "%s", r)
	c.MustBeLeftAlone("beta", beta)
	down := c.WaitDeath("alpha")
	c.Check(down.SessionID == alpha.SessionID && down.State == "crashed" && down.Desired == "running", "%+v", down)
	c.is(c.differs(1), "alpha:equal beta:changed:model")
	c.is(c.says("restart", "--rolling"), "alpha:restart beta:restart")
	c.is(c.differs(0), "alpha:equal beta:equal")
	c.Check(c.Session("alpha").SessionID == alpha.SessionID, "alpha has another conversation")
}

// An agent that a person stops during a rolling restart stays stopped, and the restart goes on.
func TestARollingRestartPassesAnAgentThatIsStopped(t *testing.T) {
	c := standIn(t)
	slow := filepath.Join(c.World.Home, "slow")
	claude := c.Variable("NBS_CLAUDE")
	c.Env = append(c.Env, "NBS_CLAUDE="+c.Script(`while [ -e `+slow+` ] && [ "$NBS_HANDLE" = alpha ]; do sleep 0.05; done; exec `+claude+` "$@"`))
	c.has("version: 1\nagents:\n  alpha:\n  beta:\n  gamma:\n")
	c.OK("up")
	c.WaitState("alpha", "idle")
	gamma := c.WaitState("gamma", "idle")
	c.Must(os.WriteFile(slow, nil, 0o600))
	restart, said := c.begins("restart", "--rolling")
	c.WaitState("alpha", "starting")
	c.OK("stop", "beta")
	c.Must(os.Remove(slow))
	c.Check(restart.End().Code == 7, "restart: %s", said)
	c.MustSay(said.String(), "beta: the agent was stopped since this command chose it", "nbs-worker resume beta")
	c.MustBe("beta", "stopped")
	c.WaitState("alpha", "idle")
	c.Check(c.WaitState("gamma", "idle").PID != gamma.PID, "gamma was not restarted: %s", said)
}
