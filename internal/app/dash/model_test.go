package dash

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"
	"pgregory.net/rapid"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/sim/rig"
	"nbs-worker/internal/team/attention"
)

var noon = time.Date(2026, 11, 27, 12, 0, 0, 0, time.UTC)

// team is three agents: bob waits, cid is done, alice works.
func team() []Row {
	return []Row{
		{Handle: "alice", State: "busy", Left: 80, Band: agent.Healthy, What: "Repair the parser."},
		{Handle: "cid", State: "idle", Left: -1, Need: &attention.Need{Reason: attention.Done, Since: noon.Add(-time.Minute)}, What: "All tests pass."},
		{
			Handle: "bob", State: "waiting", Left: 12, Band: agent.Critical, Need: &attention.Need{Reason: attention.Waits, Since: noon.Add(-time.Hour)},
			What: "Bash: rm -rf build", Ask: &Ask{ID: "abcd1234", Title: "Bash: rm -rf build", Body: "rm -rf build", Plain: true},
		},
	}
}

func screenOf(rows []Row) Model { return Model{Width: 80, Height: 24, Now: noon}.Rows(rows) }

// press presses keys, and returns what is to be done at the last one.
func press(m Model, keys ...string) (Model, []Deed) {
	var deeds []Deed
	for _, key := range keys {
		m, deeds = m.Key(key)
	}
	return m, deeds
}

func TestRowsAreSortedByNeed(t *testing.T) {
	t.Parallel()
	m := screenOf(team())
	lines := strings.Split(m.View(), "\n")
	rig.Check(t, strings.Contains(lines[0], "3 agents, 2 need you"), "%q", lines[0])
	for i, words := range []string{"bob|waits|waiting|1h|12%|rm -rf build", "cid|done|idle|1m|All tests pass.", "alice|busy|80%|Repair the parser."} {
		for word := range strings.SplitSeq(words, "|") {
			rig.Check(t, strings.Contains(lines[2+i], word), "no %q in %q", word, lines[2+i])
		}
	}
	rig.Check(t, strings.Contains(m.View(), "bob asks: Bash: rm -rf build"), "the request is not shown:\n%s", m.View())
}

// A key answers the request that is on the screen, by its id, though another one may be asked meanwhile.
func TestKeysAnswerWhatIsShown(t *testing.T) {
	t.Parallel()
	m, deeds := press(screenOf(team()), "y")
	rig.Check(t, len(deeds) == 1 && strings.Join(deeds[0].Args, " ") == "approve bob abcd1234", "%+v", deeds)
	again, deeds := press(m, "N")
	rig.Check(t, len(deeds) == 0 && strings.Contains(again.View(), "approve is not over yet"), "%+v\n%s", deeds, again.View())
	_, deeds = press(m.Ended("bob", "approved", false), "N")
	rig.Check(t, len(deeds) == 1 && deeds[0].Args[0] == "deny", "%+v", deeds)
	m, deeds = press(screenOf(team()), "j", "y")
	rig.Check(t, len(deeds) == 0 && strings.Contains(m.View(), "nothing is asked here"), "%+v\n%s", deeds, m.View())
}

func TestKeysOfVerbs(t *testing.T) {
	t.Parallel()
	for keys, want := range map[string]string{
		"r": "resume bob", "R": "recover bob", "x": "stop bob", "i": "interrupt bob", "d y": "dismiss bob", "d n": "", "d N": "",
		"s h i space ! enter": "send bob -- hi !", "s h esc": "", "tab x": "stop cid", "tab tab x": "stop bob", "G x": "stop alice", "/ c i d enter x": "stop cid",
		"N": "deny bob abcd1234",
	} {
		_, deeds := press(screenOf(team()), strings.Fields(keys)...)
		got := ""
		if len(deeds) == 1 {
			got = strings.Join(deeds[0].Args, " ")
		}
		rig.Equal(t, got, want, "%s", keys)
	}
}

// The selection stays at its agent, wherever its row goes.
func TestTheSelectionStays(t *testing.T) {
	t.Parallel()
	m, _ := press(screenOf(team()), "G")
	rig.Equal(t, m.Selected().Handle, agent.Handle("alice"), "selected")
	rows := team()
	rows[0].Need = &attention.Need{Reason: attention.Waits, Since: noon.Add(-2 * time.Hour)}
	m = m.Rows(rows)
	rig.Check(t, m.Selected().Handle == "alice" && m.at == 0, "%s at %d", m.Selected().Handle, m.at)
	m, _ = press(m, "/", "z", "z")
	rig.Check(t, m.Selected() == nil, "selected %+v", m.Selected())
	m, _ = press(m, "esc", "esc")
	rig.Equal(t, m.Selected().Handle, agent.Handle("alice"), "selected after the filter")
	m = m.Rows(team()[1:])
	rig.Check(t, m.Selected() != nil, "nothing is selected once the agent is gone")
}

// A y or a text that was meant for an agent never goes to the one that takes its place on the screen.
func TestTheAgentIsGoneMeanwhile(t *testing.T) {
	t.Parallel()
	for before, after := range map[string]string{"d": "y", "s h i": "x enter"} {
		m, _ := press(screenOf(team()), strings.Fields(before)...)
		m, deeds := press(m.Rows(team()[:2]), strings.Fields(after)...)
		rig.Check(t, len(deeds) == 0 && strings.Contains(m.View(), "bob is gone; nothing was done"), "%s, then %s: %+v\n%s", before, after, deeds, m.View())
	}
}

func TestTabsOfARequest(t *testing.T) {
	t.Parallel()
	rows := team()
	rows[2].Ask.Body = "+\treturn nil"
	m := screenOf(rows)
	rig.Check(t, strings.Contains(m.View(), "+    return nil"), "%s", m.View())
}

func TestAnyKeysAtAnySize(t *testing.T) {
	t.Parallel()
	keys := []string{
		"j", "k", "g", "G", "enter", "space", "tab", "/", "y", "N", "s", "r", "R", "x", "i", "d", "?", "q", "esc", "backspace",
		"up", "down", "pgup", "pgdown", "ctrl+u", "é", "世", "a", "ctrl+c", "f1",
	}
	rapid.Check(t, func(t *rapid.T) {
		m := Model{Now: noon, Color: rapid.Bool().Draw(t, "colour"), Limits: "5 hours: 90%"}
		for range rapid.IntRange(1, 40).Draw(t, "steps") {
			if rapid.IntRange(0, 3).Draw(t, "what") > 0 {
				m, _ = m.Key(rapid.SampledFrom(keys).Draw(t, "key"))
			} else {
				m.Width, m.Height = rapid.IntRange(0, 210).Draw(t, "width"), rapid.IntRange(0, 70).Draw(t, "height")
				before := m.selected
				rows := someRows(t)
				m = m.Rows(rows)
				for i := range rows {
					if rows[i].Handle == before && rows[i].matches(m.filter) && m.Selected().Handle != before {
						t.Fatalf("%s was selected, and %s is", before, m.Selected().Handle)
					}
				}
				m = m.Screen(m.Peeks(), rapid.SampledFrom([]string{"", "\x1b[31mred\n世界世界世界世界\n", strings.Repeat("line\n", 90)}).Draw(t, "screen"))
			}
			lines := strings.Split(m.View(), "\n")
			if len(lines) > max(1, m.Height) {
				t.Fatalf("%d lines at height %d", len(lines), m.Height)
			}
			for _, line := range lines {
				if ansi.StringWidth(line) > m.Width {
					t.Fatalf("%q is wider than %d", line, m.Width)
				}
			}
		}
	})
}

func someRows(t *rapid.T) []Row {
	var rows []Row
	for i := range rapid.IntRange(0, 60).Draw(t, "rows") {
		r := Row{Handle: agent.Handle(fmt.Sprintf("agent%d", i)), State: "idle", Left: rapid.IntRange(-1, 120).Draw(t, "left"), What: strings.Repeat("世é ", i)}
		if rapid.Bool().Draw(t, "needs") {
			r.Need = &attention.Need{Reason: rapid.SampledFrom(attention.Reasons).Draw(t, "reason"), Since: noon.Add(-time.Duration(i) * time.Hour)}
			r.Ask = &Ask{ID: "abcd1234", Title: r.What, Body: strings.Repeat("body\n", i), Plain: i%2 == 0}
		}
		rows = append(rows, r)
	}
	return rows
}

// A request that comes just before the key is not answered: nobody has read it.
func TestARequestIsReadFirst(t *testing.T) {
	t.Parallel()
	m := screenOf(team())
	rows := team()
	rows[2].Ask = &Ask{ID: "efgh5678", Title: "Bash: rm -rf /", Body: "rm -rf /", Plain: true}
	m = m.Rows(rows)
	m, deeds := press(m, "y")
	rig.Check(t, len(deeds) == 0 && strings.Contains(m.View(), "has just come"), "%+v\n%s", deeds, m.View())
	m.Now = noon.Add(time.Second)
	_, deeds = press(m, "space", "y")
	rig.Check(t, len(deeds) == 0, "%+v", deeds)
	_, deeds = press(m, "y")
	rig.Check(t, len(deeds) == 1 && deeds[0].Args[2] == "efgh5678", "%+v", deeds)
}
