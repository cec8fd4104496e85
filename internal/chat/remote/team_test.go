package remote

import (
	"errors"
	"testing"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/sim/rig"
	"nbs-worker/internal/team/attention"
	"nbs-worker/internal/team/inspect"
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

// A chat gets the word for what an agent needs, since when and what; and its state if it needs nothing, or if a person has
// seen it.
func TestAgentsSayWhatTheyNeed(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	row := &inspect.Row{}
	row.Status.State = agent.Idle
	for want, need := range map[string]*attention.Need{
		"idle":                              nil,
		"waits 3m: permission prompt":       {Reason: attention.Waits, Since: now.Add(-3 * time.Minute), What: "permission prompt"},
		"down 2h: crashed (signal: killed)": {Reason: attention.Down, Since: now.Add(-2 * time.Hour), What: "crashed (signal: killed)"},
		"short 0s: 9% of its context is left": {
			Reason: attention.Short, Since: now, What: "9% of its\ncontext is left",
		},
		"done": {Reason: attention.Done},
	} {
		rig.Equal(t, wordsOf(row, need, now), want, "%+v", need)
		if need != nil {
			need.Seen = true
			rig.Equal(t, wordsOf(row, need, now), "idle", "%+v", need)
		}
	}
}
