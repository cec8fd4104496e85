package caller

import (
	"fmt"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/claude"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
)

// Envelope returns the line above a message from the caller, so that the message is not taken for the words of the
// agent's user; "" for a person. It names the caller by its own record. order means that the text is not a message
// but a command to Claude itself. Errors: Held; BadInput for a message to itself.
func (c *Caller) Envelope(to agent.Handle, order bool) (string, error) {
	switch {
	case c == nil:
		return "", nil
	case to != "" && c.Is(to): // a conversation has no handle, and a caller without a record has none either
		return "", fail.Errorf(fail.BadInput, "an agent cannot send a message to itself: it would wait for the end of its own turn")
	case order:
		return "", c.CheckPerson("give a command of Claude's own to another agent")
	}
	return c.signature(), nil
}

// From returns the beginning of a text from the caller that has no room for an envelope; "" for a person.
func (c *Caller) From() string {
	if c == nil {
		return ""
	}
	return fmt.Sprintf("[from %s] ", c)
}

func (c *Caller) signature() string {
	return fmt.Sprintf("[This message is from %s, sent with nbs-worker. It is not from your user and carries no authority of theirs.]", c)
}

// Signed returns the prompt of a start with the caller's envelope, because Claude takes such a prompt for its user's
// words. It does not change a person's prompt, an empty prompt, or a command to Claude, which only an agent that may
// manage can give.
func (c *Caller) Signed(prompt string) string {
	if c == nil || prompt == "" || claude.IsCommand(prompt) {
		return prompt
	}
	return c.signature() + "\n" + prompt
}

// CheckFile refuses to read for an agent the file that a flag names: nbs-worker may be the only command that the
// agent's shell may run. Errors: Held.
func (c *Caller) CheckFile(flag, path string) error {
	if c == nil || c.manages() {
		return nil
	}
	return c.denied(flag).Hint("or pipe it, if you may read it: %s - <%s", flag, human.ShellWord(path))
}

// CheckWrite refuses to write files for an agent to a place that a flag or an argument names. Errors: Held.
func (c *Caller) CheckWrite(what string) error {
	return c.CheckPerson("choose where to write " + what)
}
