package caller

import (
	"nbs-worker/internal/fail"
	"nbs-worker/internal/platform/folder"
)

// Right is what a caller needs for a verb. The zero value allows nothing: a verb with it opens no project.
type Right int

// The rights, from the widest group of callers to the narrowest.
const (
	Anyone  Right = iota + 1 // the verb shows states
	Member                   // it shows what agents say, or sends to them: an agent may use it only in its own project
	Within                   // it checks the rights of its caller for each action
	Manager                  // an agent needs --may-manage
	Person                   // no agent may
)

// Rule says what a verb does, and which callers may use it.
type Rule struct {
	Right Right
	What  string // in a refusal, after "may": "serve conversations"
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

// checkMember refuses to show the project's agents to a caller from another project. A claude that works in a folder
// above the project can read the project anyway.
func (c *Caller) checkMember() error {
	project := c.at.Store.Project()
	if c.manages() || folder.Same(c.project, project) || c.record.LaunchCwd() != "" && folder.Contains(c.record.LaunchCwd(), project) {
		return nil
	}
	return fail.Errorf(fail.Held, "%s called this, and it belongs to another project", c).
		Hint("a person can do it, in a terminal of their own")
}
