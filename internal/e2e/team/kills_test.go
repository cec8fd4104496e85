package team

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"nbs-worker/internal/sim/rig"
)

// The verbs of a team are killed before each system call by which a file comes or goes, and run again.

const two = `version: 1
agents:
  alpha:
    environment: {GREETING: "${NAME_OF_THE_TEST}"}
  beta:
    environment: {GREETING: "${NAME_OF_THE_TEST}"}
    depends_on: [alpha]
`

var steps = []string{"renameat", "unlinkat"}

// killable is a team of two. The tmux server is there before, so that the killed verbs do not start it.
func killable(t *testing.T) *crew {
	c := standIn(t)
	c.KeepServer()
	c.Env = append(c.Env, "NAME_OF_THE_TEST=hello")
	c.has(two)
	return c
}

// ids returns the recorded conversations.
func (c *crew) ids() map[string]string {
	c.Helper()
	found := map[string]string{}
	for _, handle := range []string{"alpha", "beta"} {
		if _, err := os.Stat(c.RecordPath(handle)); err == nil {
			found[handle] = c.Record(handle)["session_id"].(string)
		}
	}
	return found
}

// whole checks that each agent runs once, as the file says, in the conversation that it had.
func (c *crew) whole(ids map[string]string) {
	c.Helper()
	c.is(c.differs(0), "alpha:equal beta:equal")
	claudes := map[string]int{}
	for _, p := range c.Processes() {
		if p.IsClaude() {
			claudes[p.Handle]++
		}
	}
	for _, handle := range []string{"alpha", "beta"} {
		s := c.Session(handle)
		c.Check(s.Running && claudes[handle] == 1 && (ids[handle] == "" || ids[handle] == s.SessionID),
			"%d claudes of %s, which was in %q: %+v", claudes[handle], handle, ids[handle], s)
	}
}

func TestKilledUpIsRunAgain(t *testing.T) {
	c := killable(t)
	points := rig.EachKill(c, steps, func() (*exec.Cmd, func(bool)) {
		return c.Command([]string{"up"}), func(bool) {
			ids := c.ids()
			c.OK("up")
			c.whole(ids)
			c.OK("dismiss", "--all", "--yes")
		}
	})
	c.Check(points >= 5, "it can be killed at %d points only", points)
}

func TestKilledDownIsRunAgain(t *testing.T) {
	c := killable(t)
	c.OK("up")
	ids := c.ids()
	points := rig.EachKill(c, append(steps, "pidfd_send_signal"), func() (*exec.Cmd, func(bool)) {
		return c.Command([]string{"down"}), func(bool) {
			c.OK("down")
			for _, p := range c.Processes() {
				c.Check(!p.IsClaude(), "%s runs", p)
			}
			c.is(c.says("up"), "alpha:resume beta:resume") // a person has stopped neither
			c.whole(ids)
		}
	})
	c.Check(points >= 5, "it can be killed at %d points only", points)
}

func TestKilledRestartIsRunAgain(t *testing.T) {
	c := killable(t)
	c.OK("up")
	ids, greeting := c.ids(), "hello"
	points := rig.EachKill(c, steps, func() (*exec.Cmd, func(bool)) {
		greeting += "o" // what changes
		c.Env = append(c.Env, "NAME_OF_THE_TEST="+greeting)
		return c.Command([]string{"restart", "--rolling"}), func(bool) {
			c.is(c.says("restart", "--rolling"), "alpha:restart beta:restart")
			c.whole(ids)
			for _, handle := range []string{"alpha", "beta"} {
				has := c.Environ(c.Session(handle).PID)["GREETING"]
				c.Check(has == greeting, "%s has %s; want %s", handle, has, greeting)
			}
		}
	})
	c.Check(points >= 5, "it can be killed at %d points only", points)
}

// Of two that run at the same time, one starts an agent, and the other waits for it.
func TestTwoUpsAtOnce(t *testing.T) {
	c := killable(t)
	first, second := c.Begin("up", "--json"), c.Begin("up", "--json")
	one, other := first.End(), second.End()
	c.Check(one.Code == 0 && other.Code == 0, "%s\n%s", one, other)
	c.Check(strings.Count(one.Stdout+other.Stdout, `"action":"spawn"`) == 2, "not one of them has started each agent: %s\n%s", one, other)
	c.whole(c.ids())
}
