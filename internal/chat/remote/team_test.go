package remote

import (
	"errors"
	"testing"

	"nbs-worker/internal/sim/rig"
	"nbs-worker/internal/team/message"
)

// A text that was submitted, or is kept, is not said to be unsent: it would be sent again.
func TestWhatBecameOfAText(t *testing.T) {
	t.Parallel()
	failure := errors.New("no proof")
	for want, c := range map[string]struct {
		receipt message.Receipt
		err     error
		fails   bool
	}{
		"alpha has it (accepted).":   {receipt: message.Receipt{Word: message.Accepted}},
		"alpha has it (queued).":     {receipt: message.Receipt{Word: message.Queued}, err: failure, fails: true}, // the journal lacks it
		"It was not sent: no proof.": {receipt: message.Receipt{Word: message.Held}, err: failure, fails: true},
		"It is unknown whether alpha has it: no proof. Check before you send it again.": {receipt: message.Receipt{Word: message.Unknown}, err: failure, fails: true},
		"It waits in the outbox of alpha: it is at work.":                               {receipt: message.Receipt{Word: message.Held, Outbox: "1", Reason: "it is at work"}},
		"It waits in the outbox of alpha: no proof.":                                    {receipt: message.Receipt{Word: message.Held, Outbox: "1", Reason: "another command"}, err: failure},
	} {
		c.receipt.Handle = "alpha"
		got, err := became(c.receipt, c.err)
		rig.Check(t, got == want && (err != nil) == c.fails, "%q, %v; want %q", got, err, want)
	}
}
