package chat

import (
	"sync"
	"testing"

	"nbs-worker/internal/sim/rig"
)

// failure is one of the API's, and what comes of a turn that meets it.
type failure struct {
	fails string
	code  int // of the ask
	class string
	state string // of the turn then; "": it is over
}

// Whatever the API fails with, before it has said a word or in the middle of its answer, the conversation is kept: the
// turn is answered later, or given up, and the next one knows what was said.
func TestAConversationSurvivesErrors(t *testing.T) {
	m := eachVersion(t)
	m.meets([]failure{{"error 529 midstream", 0, "", ""}, {"drop midstream", 0, "", ""}},
		[]failure{{"error 429", 8, "limit", "held"}, {"error 401 midstream", 8, "authentication", "dead"}, {"error 400", 1, "bad_request", ""}})
}

// The same for more of them. The stand-in hears of an error when an answer has begun as of one before.
func TestAConversationSurvivesMoreErrors(t *testing.T) {
	m := standIn(t)
	m.meets([]failure{{"error 529", 0, "", ""}, {"error 500", 0, "", ""}, {"error 500 midstream", 0, "", ""}},
		[]failure{{"error 429 midstream", 8, "limit", "held"}, {"error 401", 8, "authentication", "dead"}, {"error 400 midstream", 1, "bad_request", ""}})
}

// meets has one conversation meet failures that pass, and another one such as last.
func (m *team) meets(passing, lasting []failure) {
	m.Helper()
	m.Chats()
	var both sync.WaitGroup
	both.Go(func() { m.survives("passing", passing) }) // most of the time these wait
	m.survives("lasting", lasting)
	both.Wait()
}

// survives has a conversation meet failures of the API, one after the other, and asks what it remembers.
func (m *team) survives(key string, failures []failure) {
	id := m.Says(key, "Remember 42.", "OK, I will remember 42.").SessionID
	for _, f := range failures {
		text := "[[" + f.fails + "]] hello"
		got := m.Ask(f.code, key, text)
		stands := m.keyed(key)
		switch {
		case f.state != "":
			if len(stands.Open) != 1 || stands.Open[0].State != f.state || stands.Open[0].Class != f.class || stands.Open[0].Reason == "" {
				m.Errorf("%s: %+v", f.fails, stands)
			}
			m.MustPrint("You said: "+text+"\n", "conversation", "retry", key)
		case f.class != "":
			rig.Equal(m, got.Class, f.class, "%s", f.fails)
		case got.Answer == nil || *got.Answer != "You said: "+text || got.Continuity != "resumed":
			m.Errorf("%s: %+v", f.fails, got)
		}
		if after := m.keyed(key); after.SessionID != id || len(after.Open)+len(after.Previous) != 0 {
			m.Errorf("after %s: %+v", f.fails, after)
		}
	}
	if last := m.Says(key, "What number?", "42"); last.SessionID != id || last.Continuity != "resumed" {
		m.Errorf("%+v", last)
	}
}
