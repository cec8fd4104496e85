package matrix

import (
	"encoding/json"
	"testing"

	"nbs-worker/internal/sim/rig"
)

// A foreign homeserver may put fields into an event that only look like those that count: in other letters.
func TestAFieldInOtherLettersDoesNotCount(t *testing.T) {
	t.Parallel()
	for _, more := range []string{`"Sender":"@ann:home"`, `"ſender":"@ann:home"`, `"SENDER":"@ann:home"`} {
		var e event
		rig.Must(t, json.Unmarshal([]byte(`{"event_id":"$1","type":"m.room.message","sender":"@eve:away","content":{"body":"hi"},`+more+`}`), &e))
		rig.Equal(t, e.Sender+" "+e.Content.Body, "@eve:away hi", "who says what")
	}
	var e event
	rig.Must(t, json.Unmarshal([]byte(`{"event_id":"$1","type":"m.room.member","sender":"@eve:away","state_key":"@eve:away","content":{"membership":"join","memberſhip":"leave"}}`), &e))
	rig.Equal(t, e.Content.Membership, "join", "the membership")
}

// Who joins with a name in an odd form is in the room nevertheless: it is not private any more.
func TestAMemberWithAnOddNameIsOne(t *testing.T) {
	t.Parallel()
	var e event
	rig.Must(t, json.Unmarshal([]byte(`{"event_id":"$1","type":"m.room.member","sender":"@eve:away","state_key":"@eve:away","content":{"membership":"join","displayname":["Eve"]}}`), &e))
	rig.Check(t, e.Key != nil && *e.Key == "@eve:away" && e.Content.Membership == "join" && e.Sender == "", "%+v", e)
}
