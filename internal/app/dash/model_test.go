package dash

import (
	"fmt"
	"slices"
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
		{Who: Who{Handle: "alice"}, State: "busy", Left: 80, Cost: -1, Band: agent.Healthy, What: "Repair the parser."},
		{Who: Who{Handle: "cid"}, State: "idle", Left: -1, Cost: 0.5, Need: &attention.Need{Reason: attention.Done, Since: noon.Add(-time.Minute)}, What: "All tests pass."},
		{
			Who: Who{Handle: "bob"}, State: "waiting", Left: 12, Cost: 2, Band: agent.Critical, Need: &attention.Need{Reason: attention.Waits, Since: noon.Add(-time.Hour)},
			What: "Bash: rm -rf build", Ask: &Ask{ID: "abcd1234", Title: "Bash: rm -rf build", Body: "rm -rf build", Plain: true},
		},
	}
}

func screenOf(rows []Row) Model {
	return Model{Width: 80, Height: 24, Now: noon}.Look(Sight{Rows: rows})
}

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
	_, deeds = press(m.Ended(Who{Handle: "bob"}, "approved", false), "N")
	rig.Check(t, len(deeds) == 1 && deeds[0].Args[0] == "deny", "%+v", deeds)
	m, deeds = press(screenOf(team()), "j", "y")
	rig.Check(t, len(deeds) == 0 && strings.Contains(m.View(), "nothing is asked here"), "%+v\n%s", deeds, m.View())
}

func TestKeysOfVerbs(t *testing.T) {
	t.Parallel()
	for keys, want := range map[string]string{
		"r": "resume bob", "R": "recover bob", "x": "stop bob", "i": "interrupt bob", "d y": "dismiss bob", "d n": "", "d N": "",
		"s h i space ! enter": "send --queue bob -- hi !", "s h esc": "", "tab x": "stop cid", "tab tab x": "stop bob", "2 g x": "stop alice", "3 g x": "stop bob", "4 G x": "stop alice", "G 2 1 x": "stop alice", "G x": "stop alice", "/ c i d enter x": "stop cid",
		"N": "deny bob abcd1234", "D": "changes bob --patch --stay", "enter": "attach bob",
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
	m = m.Look(Sight{Rows: rows})
	rig.Check(t, m.Selected().Handle == "alice" && m.at == 0, "%s at %d", m.Selected().Handle, m.at)
	m, _ = press(m, "/", "z", "z")
	rig.Check(t, m.Selected() == nil, "selected %+v", m.Selected())
	m, _ = press(m, "esc", "esc")
	rig.Equal(t, m.Selected().Handle, agent.Handle("alice"), "selected after the filter")
	m = m.Look(Sight{Rows: team()[1:]})
	rig.Check(t, m.Selected() != nil, "nothing is selected once the agent is gone")
}

// A y or a text that was meant for an agent never goes to the one that takes its place on the screen.
func TestTheAgentIsGoneMeanwhile(t *testing.T) {
	t.Parallel()
	for before, after := range map[string]string{"d": "y", "s h i": "x enter"} {
		m, _ := press(screenOf(team()), strings.Fields(before)...)
		m, deeds := press(m.Look(Sight{Rows: team()[:2]}), strings.Fields(after)...)
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

// Whatever keys are pressed, at whatever size: nothing panics, nothing is wider than the screen, and the selection stays.
func TestAnyKeysAtAnySize(t *testing.T) {
	t.Parallel()
	keys := []string{
		"j", "k", "g", "G", "enter", "space", "tab", "/", "y", "N", "s", "r", "R", "x", "i", "d", "D", "?", "q", "esc", "backspace",
		"up", "down", "pgup", "pgdown", "ctrl+u", "é", "世", "a", "ctrl+c", "f1", "1", "2", "3", "4",
	}
	rapid.Check(t, func(t *rapid.T) {
		m := Model{Now: noon, Color: rapid.Bool().Draw(t, "colour"), Grouped: rapid.Bool().Draw(t, "grouped")}
		for range rapid.IntRange(1, 40).Draw(t, "steps") {
			switch rapid.IntRange(0, 5).Draw(t, "what") {
			case 0:
				m = lookAt(t, m)
			case 1:
				m, _ = m.Click(rapid.IntRange(0, 70).Draw(t, "line"))
			case 2:
				m, _ = m.Wheel(rapid.SampledFrom([]int{-1, 0, 1}).Draw(t, "wheel"))
			default:
				before := m.selected
				key := rapid.SampledFrom(keys).Draw(t, "key")
				if m, _ = m.Key(key); slices.Contains(keys[len(keys)-4:], key) && m.mode == browsing && m.selected != before {
					t.Fatalf("%s was selected, and after %s %s is", before, key, m.selected)
				}
			}
			checkScreen(t, &m)
		}
	})
}

// lookAt has another look at other agents, at another size.
func lookAt(t *rapid.T, m Model) Model {
	m.Width, m.Height = rapid.IntRange(0, 210).Draw(t, "width"), rapid.IntRange(0, 70).Draw(t, "height")
	before := m.selected
	sight := Sight{Rows: someRows(t), Limits: "5 hours: 90%", Journal: make([]event, rapid.IntRange(0, journalLines).Draw(t, "events"))}
	m = m.Look(sight)
	for i := range sight.Rows {
		if r := &sight.Rows[i]; r.Who == before && r.matches(m.filter) && m.Selected().Who != before {
			t.Fatalf("%s was selected, and %s is", before, m.Selected().Who)
		}
	}
	m = m.Use(map[Who]Usage{before: {Memory: 1 << 40, CPU: 12345}})
	who, preview := m.Previewed()
	return m.Show(who, preview, rapid.SampledFrom([]string{"", "\x1b[31mred\n世界世界世界世界\n", strings.Repeat("line\n", 90), strings.Repeat("世界 ", 300)}).Draw(t, "text"))
}

func checkScreen(t *rapid.T, m *Model) {
	lines := strings.Split(m.View(), "\n")
	if len(lines) > max(1, m.Height) {
		t.Fatalf("%d lines at height %d", len(lines), m.Height)
	}
	for _, line := range lines {
		if ansi.StringWidth(line) > m.Width {
			t.Fatalf("%q is wider than %d", line, m.Width)
		}
	}
	if r := m.Selected(); r != nil && r.Who != m.selected {
		t.Fatalf("the row of %s is marked, and %s is selected", r.Who, m.selected)
	}
}

func someRows(t *rapid.T) []Row {
	var rows []Row
	for i := range rapid.IntRange(0, 60).Draw(t, "rows") {
		r := Row{
			Who: Who{Project: fmt.Sprintf("/p%d", i%3), Handle: agent.Handle(fmt.Sprintf("agent%d", i))}, State: "idle", Left: rapid.IntRange(-1, 120).Draw(t, "left"),
			Cost: float64(i%7) - 1, Branch: strings.Repeat("b", i%40), What: strings.Repeat("世é ", i),
		}
		if rapid.Bool().Draw(t, "needs") {
			r.Need = &attention.Need{Reason: rapid.SampledFrom(attention.Reasons).Draw(t, "reason"), Since: noon.Add(-time.Duration(i) * time.Hour)}
			r.Ask = &Ask{ID: "abcd1234", Title: r.What, Body: strings.Repeat("body\n", i), Plain: i%2 == 0}
		}
		rows = append(rows, r)
	}
	return rows
}

// When the selected agent goes, the next one is selected: what it asks was not read either.
func TestARequestOfTheNextAgentIsReadFirst(t *testing.T) {
	t.Parallel()
	m, _ := press(screenOf(team()), "tab")
	rig.Equal(t, m.Selected().Handle, agent.Handle("cid"), "selected")
	rows := team()
	rows[1] = rows[2] // bob takes the place of cid
	rows[1].Handle = "eve"
	m, deeds := press(m.Look(Sight{Rows: rows}), "y")
	rig.Check(t, len(deeds) == 0 && m.Selected().Ask != nil, "%+v of %s", deeds, m.Selected().Handle)
}

// A request that comes just before the key is not answered: nobody has read it.
func TestARequestIsReadFirst(t *testing.T) {
	t.Parallel()
	m := screenOf(team())
	rows := team()
	rows[2].Ask = &Ask{ID: "efgh5678", Title: "Bash: rm -rf /", Body: "rm -rf /", Plain: true}
	m = m.Look(Sight{Rows: rows})
	m, deeds := press(m, "y")
	rig.Check(t, len(deeds) == 0 && strings.Contains(m.View(), "has just come"), "%+v\n%s", deeds, m.View())
	m.Now = noon.Add(time.Second)
	m, deeds = press(m, "space", "y")
	rig.Check(t, len(deeds) == 0 && strings.Contains(m.View(), "close the preview first"), "%+v", deeds)
	_, deeds = press(m, "esc", "y")
	rig.Check(t, len(deeds) == 1 && deeds[0].Args[2] == "efgh5678", "%+v", deeds)
}

// What is approved was shown to its end: a wide line goes on below, and a request that is longer than the screen is asked
// about once more.
func TestARequestIsShownWhole(t *testing.T) {
	t.Parallel()
	asks := func(body string) Model {
		rows := team()
		rows[2].Ask.Body = body
		return screenOf(rows)
	}
	m := asks("command: " + strings.Repeat("echo ", 40) + "; rm -rf /\ndescription: harmless")
	rig.Check(t, strings.Contains(m.View(), "; rm -rf /") && strings.Contains(m.View(), "\ndescription: harmless"), "%s", m.View())
	for line := range strings.SplitSeq(m.View(), "\n") {
		rig.Check(t, !strings.HasPrefix(line, "echo"), "the rest of a line begins as a line does: %q", line)
	}
	_, deeds := press(m, "y")
	rig.Equal(t, len(deeds), 1, "deeds")

	m = asks(strings.Repeat("line\n", 15) + "last")
	rig.Check(t, strings.Contains(m.View(), "last") && strings.Contains(m.View(), "alice"), "%s", m.View())

	long := asks(strings.Repeat("line\n", 50) + "rm -rf /")
	low := asks("rm -rf /")
	low.Height = 11
	for what, m := range map[string]Model{"a long request": long, "a low screen": low} {
		m, deeds := press(m, "y")
		rig.Check(t, len(deeds) == 0 && strings.Contains(m.View(), "approve what is not shown whole?"), "%s: %+v\n%s", what, deeds, m.View())
		_, deeds = press(m, "n")
		rig.Equal(t, len(deeds), 0, "%s: deeds after n", what)
		_, deeds = press(m, "y")
		rig.Check(t, len(deeds) == 1 && strings.Join(deeds[0].Args, " ") == "approve bob abcd1234", "%s: %+v", what, deeds)
	}
}

// The last lines show an error with its hint, and the end of what is typed.
func TestTheLastLinesAreRead(t *testing.T) {
	t.Parallel()
	m := screenOf(team()).Ended(Who{Handle: "bob"}, "nbs-worker: resume bob: "+strings.Repeat("word ", 20)+"\nhint: nbs-worker resume bob --force", true)
	rig.Check(t, strings.HasSuffix(m.View(), "\nhint: nbs-worker resume bob --force"), "%s", m.View())
	m, _ = press(m, "s")
	m = m.Paste(strings.Repeat("word ", 30) + "and this")
	rig.Check(t, strings.Contains(m.View(), "\nsend bob: …") && strings.HasSuffix(m.View(), "and this"), "%s", m.View())
}

// Space shows the screen, then the conversation, then neither; the preview follows the selection.
func TestPreviews(t *testing.T) {
	t.Parallel()
	m, deeds := press(screenOf(team()), "space")
	rig.Check(t, len(deeds) == 1 && deeds[0].Preview == ScreenPreview && deeds[0].Who.Handle == "bob", "%+v", deeds)
	m = m.Show(deeds[0].Who, ScreenPreview, "its terminal")
	rig.Check(t, strings.Contains(m.View(), "bob: its screen") && strings.Contains(m.View(), "its terminal"), "%s", m.View())
	m, deeds = press(m, "space")
	rig.Check(t, deeds[0].Preview == ConversationPreview && !strings.Contains(m.View(), "its terminal"), "%+v\n%s", deeds, m.View())
	m = m.Show(deeds[0].Who, ScreenPreview, "too late")
	rig.Check(t, !strings.Contains(m.View(), "too late"), "the text of another preview is shown")
	m, deeds = press(m, "j")
	rig.Check(t, deeds[0].Preview == ConversationPreview && deeds[0].Who.Handle == "cid", "%+v", deeds)
	m, deeds = press(m, "space")
	rig.Check(t, len(deeds) == 0 && !strings.Contains(m.View(), "its conversation"), "%+v\n%s", deeds, m.View())
}

func TestTheMouse(t *testing.T) {
	t.Parallel()
	m, _ := screenOf(team()).Click(4) // below the header and the names of the columns: the third row
	rig.Equal(t, m.Selected().Handle, agent.Handle("alice"), "selected")
	m, _ = m.Wheel(-1)
	rig.Equal(t, m.Selected().Handle, agent.Handle("cid"), "selected")
	for _, y := range []int{0, 1, 5, 23} {
		m, _ = m.Click(y)
		rig.Equal(t, m.Selected().Handle, agent.Handle("cid"), "selected after a click on line %d", y)
	}
}

// The rows of a project stand under its folder; the project with the most urgent need is the first.
func TestProjects(t *testing.T) {
	t.Parallel()
	rows := team()
	rows[0].Project, rows[1].Project, rows[2].Project = "/b", "/a", "/b"
	m := Model{Width: 80, Height: 24, Now: noon, Grouped: true}.Look(Sight{Rows: rows})
	lines := strings.Split(m.View(), "\n")[2:]
	for i, word := range []string{"/b", "bob", "alice", "/a", "cid"} {
		rig.Check(t, strings.Contains(lines[i], word), "no %q in line %d:\n%s", word, i, m.View())
	}
	m, _ = press(m, "2", "g")
	rig.Equal(t, m.Selected().Handle, agent.Handle("cid"), "the first by name")
	m, _ = m.Click(2)
	rig.Equal(t, m.Selected().Handle, agent.Handle("cid"), "a click on a folder selects nothing")
}

// A need alarms once: not at the first look, and not while it lasts.
func TestAlarms(t *testing.T) {
	t.Parallel()
	m := screenOf(team())
	for _, step := range []struct {
		change func(rows []Row)
		alarms bool
	}{
		{func([]Row) {}, false},
		{func(rows []Row) { rows[0].Need = &attention.Need{Reason: attention.Done, Since: noon} }, true},
		{func(rows []Row) { rows[0].Need = &attention.Need{Reason: attention.Done, Since: noon} }, false},
		{func(rows []Row) { rows[0].Need = &attention.Need{Reason: attention.Waits, Since: noon} }, true},
		{func(rows []Row) {
			rows[0].Need = &attention.Need{Reason: attention.Waits, Since: noon.Add(30 * time.Millisecond)} // computed from an age
		}, false},
		{func(rows []Row) {
			rows[0].Need = &attention.Need{Reason: attention.Waits, Since: noon.Add(time.Hour), Seen: true}
		}, false},
		{func(rows []Row) {
			rows[2].Ask.ID = "efgh5678" // another request, at once
			rows[0].Need = &attention.Need{Reason: attention.Waits, Since: noon.Add(time.Hour), Seen: true}
		}, true},
	} {
		rows := team()
		step.change(rows)
		m = m.Look(Sight{Rows: rows})
		rig.Equal(t, m.Alarms(), step.alarms, "alarms for %+v", rows[0].Need)
	}
	rig.Equal(t, m.Title(), "nbs-worker: 3 need you", "title")
	m = screenOf(nil).Look(Sight{Rows: team()})
	rig.Check(t, m.Alarms(), "the first agent does not alarm")
}
