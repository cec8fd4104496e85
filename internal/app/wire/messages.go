package wire

import (
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/store/queue"
	"nbs-worker/internal/team/message"
)

// Receipt is the outcome of a message to an agent.
type Receipt struct {
	Handle  agent.Handle `json:"handle"`
	Receipt message.Word `json:"receipt"`
	Channel string       `json:"channel,omitempty"` // "typed" or "file"
	UUID    string       `json:"uuid,omitempty"`    // of its record in the transcript
	File    string       `json:"file,omitempty"`    // with the text
	Outbox  string       `json:"outbox,omitempty"`  // id of the text in the agent's outbox
	Reason  string       `json:"reason,omitempty"`  // why it was not accepted, or has no reply
	Reply   *string      `json:"reply,omitempty"`   // the agent's last words in that turn
}

// NewReceipt converts a receipt and its error.
func NewReceipt(r message.Receipt, err error) Receipt {
	out := Receipt{Handle: r.Handle, Receipt: r.Word, Channel: r.Channel, UUID: r.UUID, File: r.File, Outbox: r.Outbox, Reason: r.Reason, Reply: r.Answer}
	if err != nil {
		out.Reason = err.Error()
	}
	return out
}

// Interruption is the outcome of an interruption of a turn.
type Interruption struct {
	Handle  agent.Handle    `json:"handle"`
	Outcome message.Outcome `json:"outcome"`          // "interrupted", "ended" (by itself at that moment) or "idle"
	Prompt  string          `json:"prompt,omitempty"` // of a turn without any answer yet, which Claude has dropped
	Left    bool            `json:"left,omitempty"`   // the prompt is still in the input box
}

// NewInterruption converts the outcome of an interruption.
func NewInterruption(i message.Interruption) Interruption {
	return Interruption{Handle: i.Handle, Outcome: i.Outcome, Prompt: i.Prompt, Left: i.Left}
}

// Compaction is the outcome of a compaction of a conversation.
type Compaction struct {
	Handle agent.Handle `json:"handle"`
	Before *Context     `json:"before"`
	After  *Context     `json:"after"`            // null: unknown until Claude's next reply
	Floor  bool         `json:"floor"`            // another compaction would free nothing
	Reason string       `json:"reason,omitempty"` // why it did not help
}

// NewCompaction converts the outcome of a compaction and its error.
func NewCompaction(c message.Compaction, err error, bands agent.Bands, now time.Time) Compaction {
	out := Compaction{Handle: c.Handle, Before: newContext(c.Before, bands, now), After: newContext(c.After, bands, now), Floor: c.Floor}
	if err != nil {
		out.Reason = err.Error()
	}
	return out
}

// Kept is a message in an agent's outbox.
type Kept struct {
	Handle  agent.Handle `json:"handle"`
	ID      string       `json:"id"`
	State   queue.State  `json:"state"`
	Allowed bool         `json:"allowed"` // it has the user's seal; otherwise it is never typed
	Text    string       `json:"text"`
	Created *time.Time   `json:"created"`
	Tries   int          `json:"tries"`
	Reason  string       `json:"reason,omitempty"` // of the last try
}

// NewKept converts a message in an outbox.
func NewKept(handle agent.Handle, e queue.Entry, allowed bool) Kept {
	return Kept{
		Handle: handle, ID: e.ID, State: e.State, Allowed: allowed, Text: e.Text, Created: timeOf(e.Created), Tries: e.Tries, Reason: e.Reason,
	}
}
