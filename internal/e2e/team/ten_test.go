package team

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"nbs-worker/internal/e2e"
)

func eachVersion(t *testing.T) *crew { return &crew{e2e.EachVersion(t)} }

// tenAgents depend on each other in three rows; each is told a number of its own.
const tenAgents = `version: 1
defaults:
  model: sonnet
agents:
  lead:
    prompt: Remember 30.
  plan:
    prompt: Remember 31.
    model: opus
    depends_on: {lead: {condition: first-turn-done}}
  code:
    prompt: Remember 32.
    worktree: true
    depends_on: {lead: {condition: idle}}
  fix:
    prompt: Remember 33.
    worktree: {branch: repair}
    depends_on: {lead: {condition: idle}}
  test:
    prompt: Remember 34.
    model: haiku
    depends_on: [code, fix]
  bench:
    prompt: Remember 35.
    model: haiku
    depends_on: {code: {condition: started}}
  docs:
    prompt: Remember 36.
    environment: {AUDIENCE: people}
  site:
    prompt: Remember 37.
    depends_on: [docs]
  watch:
    prompt: Remember 38.
  review:
    prompt: Remember 39.
    model: opus
    depends_on: [test, plan]
groups:
  checks: [test, bench, review]
`

var all = strings.Fields("lead plan code fix test bench docs site watch review")

const realAgents = `version: 1
agents:
  lead:
    prompt: Remember 40.
    model: sonnet
  code:
    prompt: Remember 41.
    worktree: true
    depends_on: {lead: {condition: idle}}
  test:
    prompt: Remember 42.
    model: haiku
    depends_on: {code: {condition: first-turn-done}}
`

// did is what a verb says that it did with each of the agents.
func did(action string, handles ...string) string {
	return strings.Join(handles, ":"+action+" ") + ":" + action
}

// Ten agents, with dependencies, three models, two worktrees and a group, live through the whole life of a team. Each
// stays in its conversation, and knows at the end what it was told at the beginning.
func TestTenAgents(t *testing.T) {
	c := standIn(t)
	before := c.comesUp(tenAgents, all)
	c.Check(c.asked("Remember 30.") < c.asked("Remember 31."), "plan did not wait for the first turn of lead")
	c.hasBranches(before, map[string]string{"code": "nbs/code", "fix": "repair"})

	edited := strings.NewReplacer("model: haiku\n    depends_on: [code, fix]", "model: opus\n    depends_on: [code, fix]", "AUDIENCE: people", "AUDIENCE: programs").Replace(tenAgents)
	c.writes(edited)
	c.is(c.differs(1), "lead:equal plan:equal code:equal fix:equal test:changed:model bench:equal docs:changed:environment site:equal watch:equal review:equal")
	c.livesOn(all)
	c.Check(c.Environ(c.Session("docs").PID)["AUDIENCE"] == "programs", "the variable of docs did not change")
	c.knows(before, all, 30)
	for handle, model := range map[string]string{"lead": "sonnet", "plan": "opus", "test": "opus", "bench": "haiku"} {
		c.MustSay(c.lastModel(before[handle].SessionID), model)
	}
	var answers []e2e.Receipt
	c.Decode(&answers, "send", "@checks", "What number?", "--wait-reply", "--timeout", e2e.Patience(), "--json")
	c.Check(len(answers) == 3, "the group is %+v", answers)
}

// The same life, of a few agents on the real Claude Code.
func TestRealTeam(t *testing.T) {
	c, names := eachVersion(t), []string{"lead", "code", "test"}
	before := c.comesUp(realAgents, names)
	c.hasBranches(before, map[string]string{"code": "nbs/code"})
	c.writes(strings.Replace(realAgents, "model: haiku", "model: opus", 1))
	c.is(c.differs(1), "lead:equal code:equal test:changed:model")
	c.livesOn(names)
	c.knows(before, names, 40)
	for handle, model := range map[string]string{"lead": "sonnet", "test": "opus"} {
		c.MustSay(c.lastModel(before[handle].SessionID), model)
	}
}

// comesUp starts the team of a file, in a repository.
func (c *crew) comesUp(file string, names []string) (before map[string]e2e.Session) {
	c.Helper()
	c.repository(".nbs")
	c.has(file)
	c.is(c.says("up", "--wait", "--trust"), did("spawn", names...))
	c.is(c.differs(0), did("equal", names...))
	before = map[string]e2e.Session{}
	for _, handle := range names {
		before[handle] = c.Session(handle)
	}
	return before
}

func (c *crew) hasBranches(sessions map[string]e2e.Session, branches map[string]string) {
	c.Helper()
	for handle, branch := range branches {
		c.is(sessions[handle].Cwd, c.World.Project+".nbs/"+handle)
		c.MustSay(c.Git(sessions[handle].Cwd, "branch", "--show-current"), branch)
	}
}

// livesOn allows a changed file, and restarts, stops and starts the team.
func (c *crew) livesOn(names []string) {
	c.Helper()
	c.allows()
	c.is(c.says("restart", "--rolling"), did("restart", names...))
	c.is(c.differs(0), did("equal", names...))
	backward := slices.Clone(names)
	slices.Reverse(backward)
	c.is(c.says("down"), did("stop", backward...))
	c.is(c.says("up"), did("resume", names...))
	c.is(c.differs(0), did("equal", names...))
}

// knows asks all agents for their numbers, of which the first agent has the first.
func (c *crew) knows(before map[string]e2e.Session, names []string, first int) {
	c.Helper()
	var answers []e2e.Receipt
	c.Decode(&answers, "send", "--all", "What number?", "--wait-reply", "--timeout", e2e.Patience(), "--json")
	c.Check(len(answers) == len(names), "%d answers", len(answers))
	for _, a := range answers {
		number := strconv.Itoa(first + slices.Index(names, a.Handle))
		c.Check(a.Reply != nil && strings.Contains(*a.Reply, number), "%s does not know %s: %+v", a.Handle, number, a)
		now := c.Session(a.Handle)
		c.Check(now.SessionID == before[a.Handle].SessionID && now.Cwd == before[a.Handle].Cwd, "%s: %+v; before: %+v", a.Handle, now, before[a.Handle])
	}
}

// asked returns how many requests came before the one with a prompt.
func (c *crew) asked(prompt string) int {
	c.Helper()
	for i, request := range c.API.Requests() {
		if request.Last() == prompt && !request.Side {
			return i
		}
	}
	c.Fatalf("nothing has asked %q", prompt)
	return 0
}

// lastModel returns the model of the last question that a conversation has asked.
func (c *crew) lastModel(id string) (model string) {
	for _, request := range c.API.Requests() {
		if request.SessionID == id && !request.Side && request.Last() == "What number?" {
			model = request.Model
		}
	}
	return model
}
