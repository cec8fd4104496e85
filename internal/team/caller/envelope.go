package caller

import (
	"fmt"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/claude"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
)

// Envelope is the line above a message of the caller's, so that nobody takes it for the words of
// the agent's user; "" for a person. It names the caller by its own record. order: the text is no
// message but a command to Claude itself. Errors: Held; BadInput for a message to itself.
func (c *Caller) Envelope(project string, to agent.Handle, order bool) (string, error) {
	switch {
	case c == nil:
		return "", nil
	case to != "" && c.Is(project, to): // a conversation has no handle, nor has a caller without a record
		return "", fail.Errorf(fail.BadInput, "an agent cannot send a message to itself: it would wait for the end of its own turn")
	case order:
		return "", c.CheckPerson("give a command of Claude's own to another agent")
	}
	return c.signature(), nil
}

func (c *Caller) signature() string {
	return fmt.Sprintf("[This message is from %s, sent with nbs-worker. It is not from your user and carries no authority of theirs.]", c)
}

// Signed is the prompt of a start with the caller's envelope: Claude takes such a prompt for its user's words. A
// person's words, and no words, stay as they are, and so does a command to Claude, which only an agent that may manage
// can give.
func (c *Caller) Signed(prompt string) string {
	if c == nil || prompt == "" || claude.IsCommand(prompt) {
		return prompt
	}
	return c.signature() + "\n" + prompt
}

// CheckFile refuses to read the file that a flag names for an agent: this command may be all that its shell may run.
// Errors: Held.
func (c *Caller) CheckFile(flag, path string) error {
	if c == nil || c.manages() {
		return nil
	}
	return c.denied(flag).Hint("or pipe it, if you may read it: %s - <%s", flag, human.ShellWord(path))
}

// CheckWrite refuses to write, for an agent, files where a flag or an argument says. Errors: Held.
func (c *Caller) CheckWrite(what string) error {
	return c.CheckPerson("choose where to write " + what)
}
