package dash

import (
	"strings"
	"testing"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/sim/rig"
	"nbs-worker/internal/team/attention"
)

// arrived is a look at two hosts: alice at build1 is done, bob at build2 works. A host that has not answered has no rows.
func arrived(build1, build2 bool) Sight {
	sight := Sight{Places: []Place{{Host: "build1", Coming: !build1}, {Host: "build2", Coming: !build2}}}
	if build1 {
		sight.Rows = append(sight.Rows, Row{
			Who: Who{Handle: "alice", Host: "build1"}, State: "idle", Left: -1, Cost: -1, Need: &attention.Need{Reason: attention.Done, Since: noon},
		})
	}
	if build2 {
		sight.Rows = append(sight.Rows, Row{Who: Who{Handle: "bob", Host: "build2"}, State: "busy", Left: -1, Cost: -1})
	}
	return sight
}

func ofHosts() Model { return Model{Width: 80, Height: 24, Now: noon, Grouped: true} }

// Whichever host answers first: the first row is selected at the end, and it is the one that needs the user most.
func TestTheFirstSelectionOfHosts(t *testing.T) {
	t.Parallel()
	for _, first := range []Sight{arrived(true, false), arrived(false, true)} {
		m := ofHosts().Look(arrived(false, false)).Look(first).Look(arrived(true, true))
		rig.Equal(t, m.Selected().name(), "alice@build1", "selected")
		m.Now = noon.Add(time.Hour)
		next := arrived(true, true)
		next.Rows[0].Need, next.Rows[1].Need = nil, &attention.Need{Reason: attention.Waits, Since: noon}
		m = m.Look(next)
		rig.Equal(t, m.Selected().name(), "alice@build1", "selected when all have answered")
	}
}

// What the user has selected stays, and a message goes to the agent that its line names.
func TestRowsArriveWhileAMessageIsTyped(t *testing.T) {
	t.Parallel()
	for _, keys := range []string{"s", "g s", "tab s"} {
		m, _ := press(ofHosts().Look(arrived(false, false)).Look(arrived(false, true)), strings.Fields(keys)...)
		m = m.Look(arrived(true, true))
		rig.Check(t, strings.Contains(m.View(), "send bob@build2: "), "%s: %s", keys, m.View())
		m, _ = press(m, "h", "i")
		m = m.Look(arrived(true, true))
		_, deeds := press(m, "enter")
		rig.Check(t, len(deeds) == 1 && deeds[0].Who == Who{Handle: "bob", Host: "build2"} && deeds[0].Args[4] == "hi", "%s: %+v", keys, deeds)
	}
}

// A row that is away for a moment takes no message with it.
func TestARowIsBackBeforeItsMessageIsSent(t *testing.T) {
	t.Parallel()
	m, _ := press(screenOf(team()), "s", "h", "i")
	m = m.Look(Sight{Rows: team()[:2]}).Look(Sight{Rows: team()})
	_, deeds := press(m, "enter")
	rig.Check(t, len(deeds) == 1 && strings.Join(deeds[0].Args, " ") == "send --queue bob -- hi", "%+v", deeds)
}

// A key that acts at once is for the agent that the user saw selected, and not for the one that has just taken its place.
func TestAKeyIsNotForTheAgentThatHasJustBeenSelected(t *testing.T) {
	t.Parallel()
	gone := screenOf(team()).Look(Sight{Rows: team()[:2]})
	came := ofHosts().Look(arrived(false, true)).Look(arrived(true, true))
	for name, m := range map[string]Model{"cid": gone, "alice@build1": came} {
		for _, key := range []string{"x", "i", "r", "R", "enter"} {
			next, deeds := press(m, key)
			rig.Check(t, len(deeds) == 0 && strings.Contains(next.View(), name+" has just been selected here"), "%s: %+v\n%s", key, deeds, next.View())
			next.Now = noon.Add(time.Second)
			_, deeds = press(next, key)
			rig.Check(t, len(deeds) == 1 && deeds[0].Who.name() == name, "%s a second later: %+v", key, deeds)
		}
	}
	m, _ := press(gone, "s")
	rig.Check(t, strings.Contains(m.View(), "send cid: "), "%s", m.View())
	rig.Equal(t, m.about.Handle, agent.Handle("cid"), "the message is for")
}
