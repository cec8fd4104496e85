package caller

import (
	"nbs-worker/internal/fail"
	"nbs-worker/internal/team/observe"
)

// Right is what a caller needs for a verb. The zero value is no right: a verb with it opens no project.
type Right int

// The rights, from the widest circle of callers to the narrowest.
const (
	Anyone  Right = iota + 1 // the verb shows states
	Member                   // it shows what agents say, or speaks to them: for an agent in its own project only
	Within                   // it acts within the powers of its caller, and asks about each thing that it does
	Manager                  // an agent needs --may-manage
	Person                   // no agent may
)

// Rule is what a verb does, and who may have it done.
type Rule struct {
	Right Right
	What  string // as a refusal names it, after "to": "serve conversations"
}

// Check refuses a verb to a caller who lacks the right to it, before the verb has read or changed anything.
// Errors: Held.
func (c *Caller) Check(rule Rule) error {
	if c == nil {
		return nil
	}
	switch rule.Right {
	case Person:
		return c.CheckPerson(rule.What)
	case Manager:
		if !c.manages() {
			return c.denied("to " + rule.What)
		}
	case Member:
		return c.checkMember()
	case Anyone, Within:
	}
	return nil
}

// checkMember refuses to show the project's agents to one from elsewhere. A claude that works above the project can
// read what is in it anyway.
func (c *Caller) checkMember() error {
	project := c.at.Store.Project()
	if c.manages() || observe.SameFolder(c.project, project) || c.record.LaunchCwd() != "" && observe.Inside(project, c.record.LaunchCwd()) {
		return nil
	}
	return fail.Errorf(fail.Held, "%s called this, and it belongs to another project", c).
		Hint("a person can do it, in a terminal of their own")
}
