// Package messages has the commands that write to agents: messages, answers to what they ask, the outbox, interrupting, compacting, and waiting for a state.
package messages

import "nbs-worker/internal/app/cli/ui"

// Commands are the commands for messages and turns.
var Commands = []ui.Command{
	{Name: "send", Make: newSendCmd},
	{Name: "requests", Make: newRequestsCmd},
	{Name: "approve", Make: newApproveCmd},
	{Name: "deny", Make: newDenyCmd},
	{Name: "answer", Make: newAnswerCmd},
	{Name: "outbox", Make: newOutboxCmd},
	{Name: "interrupt", Make: newInterruptCmd},
	{Name: "compact", Make: newCompactCmd},
	{Name: "wait", Make: newWaitCmd},
}
