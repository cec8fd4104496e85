package life

import (
	"os"
	"strings"
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
	m.OK("dismiss", "beta", "--keep")
	m.MustSay(m.OK("search", "Remember 42"), "beta (dismissed), conversation "+beta.SessionID+", archived: ")
	said := m.AsAgent("alpha", "nbs-worker search 'Remember 42'")
	m.Check(strings.Contains(said[0], "alpha, conversation") && !strings.Contains(said[0], "dismissed"), "an agent finds %q", said)
	m.OK("ask", "notes", "The oak is old.")
	m.MustSay(m.OK("search", "oak is"), "conversation notes, conversation ", "The oak is old.")
	m.MustSay(m.OK("search", "oak is", "--json"), `"conversation":"notes"`)
	m.Refused(4, "missing closing", "search", "(")
}
