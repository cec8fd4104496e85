package caller

import (
	"strings"
	"testing"

	"nbs-worker/internal/fail"
	"nbs-worker/internal/sim/rig"
)

// Only a person's messages arrive as the user's own words.
func TestEnvelope(t *testing.T) {
	t.Parallel()
	var person *Caller
	plain := agentWith(func(*Caller) {})
	manager := agentWith(func(c *Caller) { c.record.MayManage = true })
	byHand := &Caller{byHand: true}
	for what, c := range map[string]struct {
		caller *Caller
		want   string
	}{
		"a person": {person, ""}, "an agent": {plain, "from agent alpha,"}, "one that manages": {manager, "from agent alpha,"},
		"a claude that was started by hand": {byHand, "from a claude that was started by hand,"},
	} {
		got, err := c.caller.Envelope("beta", false)
		if err != nil || (got == "") != (c.want == "") || !strings.Contains(got, c.want) || c.want != "" && !strings.Contains(got, "not from your user") {
			t.Errorf("%s: %q, %v", what, got, err)
		}
	}
	text, err := (&Caller{byHand: true}).Envelope("", false)
	rig.Check(t, err == nil && text != "", "a claude without a record to a conversation: %q, %v", text, err)
	_, err = plain.Envelope("ALPHA", false)
	rig.Check(t, fail.KindOf(err) == fail.BadInput, "to itself: %v", err)
	elsewhere := agentWith(func(c *Caller) { c.at = in("/other") })
	_, err = elsewhere.Envelope("alpha", false)
	rig.Check(t, err == nil, "to its namesake in another project: %v", err)
	rig.Check(t, person.Signed("Begin.") == "Begin." && plain.Signed("") == "", "words without an envelope are changed")
	rig.Check(t, strings.HasSuffix(plain.Signed("Begin."), "\nBegin.") && strings.HasPrefix(plain.Signed("Begin."), "[This message is from agent alpha"), "%q", plain.Signed("Begin."))
	checkHeld(t, map[string]refusal{
		"an agent has a file written":      {plain.CheckWrite("a file"), true},
		"a person gives an order":          {errOf(person.Envelope("beta", true)), false},
		"an agent gives an order":          {errOf(plain.Envelope("beta", true)), true},
		"one that manages gives an order":  {errOf(manager.Envelope("beta", true)), true},
		"a person has a file read":         {person.CheckFile("--file", "/etc/passwd"), false},
		"an agent has a file read":         {plain.CheckFile("--file", "/etc/passwd"), true},
		"one that manages has a file read": {manager.CheckFile("--file", "/etc/passwd"), false},
	})
}

func errOf(_ string, err error) error { return err }
