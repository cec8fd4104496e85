package life

import (
	"os"
	"testing"
)

// What was said is found in the present and the earlier conversations of all agents, also after Claude has deleted one.
func TestSearch(t *testing.T) {
	m := standIn(t)
	alpha, beta := m.Remembers("alpha"), m.Remembers("beta")
	m.MustSay(m.OK("search", "(?i)remember 4[2]"), "alpha, conversation "+alpha.SessionID, "beta, conversation "+beta.SessionID, "Remember 42.")
	m.OK("stop", "--all")
	m.OK("resume", "alpha", "--fresh")
	m.MustSay(m.OK("search", "Remember 42"), "alpha, conversation "+alpha.SessionID)
	m.Must(os.Remove(beta.Transcript.Path))
	m.MustSay(m.OK("search", "Remember 42"), "beta, conversation "+beta.SessionID+", archived: "+m.KeptPath(beta.SessionID))
	m.MustSay(m.OK("search", "Remember 42", "--all-projects", "--json"), `"archived":true`, `"handle":"alpha"`, `"project":"`+m.World.Project)
	if r := m.NBS("search", "no such words"); r.Code != 0 || r.Stdout != "" {
		t.Errorf("nothing matches: %s", r)
	}
	m.Refused(4, "missing closing", "search", "(")
}
