package dash

import (
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"nbs-worker/internal/sim/rig"
	"nbs-worker/internal/team/attention"
)

// fleet is the team at this machine and at two hosts, one of which does not answer; a third has shown nothing.
func fleet() Sight {
	rows := team()
	rows[0].Host, rows[0].Need = "build2", &attention.Need{Reason: attention.Done, Since: noon.Add(-time.Second)}
	rows[1].Project = "/home/u/shop"
	rows[2].Host = "build1"
	return Sight{Rows: rows, Places: []Place{
		{Host: "build1"}, {Host: "build2", Trouble: "unreachable: it did not answer in time", AsOf: noon.Add(-5 * time.Minute)},
		{Host: "build3", Trouble: "unreachable: it does not let you in (t asks again)"}, {Host: "build4"},
	}}
}

func fleetScreen() Model {
	return Model{Width: 100, Height: 30, Now: noon, Grouped: true}.Look(fleet())
}

// Keys of a row of a host run the same commands there.
func TestKeysOfAHost(t *testing.T) {
	t.Parallel()
	s := &shell{Options: Options{Global: []string{"--tmux-socket=own"}}}
	for keys, want := range map[string]string{
		"enter": "attach --host=build1 bob", "y": "approve --host=build1 bob abcd1234", "N": "deny --host=build1 bob abcd1234", "x": "stop --host=build1 bob",
		"s h i enter": "send --host=build1 --queue bob -- hi", "d y": "dismiss --host=build1 bob", "r": "resume --host=build1 bob", "i": "interrupt --host=build1 bob",
		"R": "recover --host=build1 bob", "j x": "stop --tmux-socket=own --root=/home/u/shop cid", "G x": "stop --host=build2 alice", "/ b u i l d 2 enter x": "stop --host=build2 alice",
	} {
		_, deeds := press(fleetScreen(), strings.Fields(keys)...)
		got := ""
		if len(deeds) == 1 {
			got = strings.Join(s.line(deeds[0].Who, deeds[0].Args...), " ")
		}
		rig.Equal(t, got, want, "%s", keys)
	}
	m, deeds := press(fleetScreen(), "D")
	rig.Check(t, len(deeds) == 0 && strings.Contains(m.View(), "nbs-worker changes bob@build1 --patch"), "D: %+v\n%s", deeds, m.View())
	_, deeds = press(fleetScreen(), "t")
	rig.Check(t, len(deeds) == 1 && deeds[0].Kind == Again, "t: %+v", deeds)
	m, _ = press(fleetScreen(), "s")
	rig.Check(t, strings.Contains(m.View(), "send bob@build1: "), "who gets a message:\n%s", m.View())
}

// The rows of a host stand under its name. Those that may be out of date are dim, and their age is said.
func TestHeadingsOfHosts(t *testing.T) {
	t.Parallel()
	m := fleetScreen()
	lines := strings.Split(ansi.Strip(m.View()), "\n")[2:]
	for i, want := range []string{
		"build1", "bob", "here /home/u/shop", "cid", "build2: unreachable: it did not answer in time; as it was 5 minutes ago", "alice",
		"build3: unreachable: it does not let you in (t asks again)", "build4: no agents",
	} {
		rig.Check(t, strings.HasPrefix(lines[i], want), "line %d is %q; want %q", i, lines[i], want)
	}
	m.Color = true
	rig.Check(t, strings.Contains(m.View(), "\x1b[2malice"), "the row of a lost host is not dim:\n%q", m.View())
	for _, y := range []int{2, 6, 8, 9, 10} { // headings
		clicked, _ := m.Click(y)
		rig.Equal(t, clicked.Selected().name(), "bob@build1", "selected after a click on line %d", y)
	}
	none := Model{Width: 80, Height: 24, Now: noon, Grouped: true}.Look(Sight{Places: fleet().Places[2:3]})
	rig.Check(t, strings.Contains(none.View(), "build3: unreachable"), "without rows:\n%s", none.View())
}
