package tmux

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/sim/rig"
)

func TestParsePanes(t *testing.T) {
	t.Parallel()
	good := Pane{
		ServerPID: 991, SessionID: "$3", ID: "%5", PID: 1000, Attached: 2, Window: 4, Active: true,
		Invocation: "i", SessionInvocation: "j", SessionOwner: "p/a", Session: "nbs-a-live", Touched: time.Unix(1700000000, 0),
	}
	other := Pane{ServerPID: 991, SessionID: "$4", ID: "%6", PID: 1001, Session: "other"}
	const line = "991|$3|%5|1000|2|4|1|1700000000|i|j|p/a|nbs-a-live"
	named := good
	named.Session = "a|b|$1|%1|7|1|"
	for what, c := range map[string]struct {
		out  string
		want []Pane
	}{
		"nothing":             {"", nil},
		"empty line":          {"\n", nil},
		"ours":                {line + "\n", []Pane{good}},
		"without final break": {line, []Pane{good}},
		"a stranger's":        {"991|$4|%6|1001|0|0|0|||||other\n", []Pane{other}},
		"bars in the name":    {"991|$3|%5|1000|2|4|1|1700000000|i|j|p/a|a|b|$1|%1|7|1|\n", []Pane{named}},
		"too few fields":      {"991|$3|%5|1000|i\n" + line + "\n", []Pane{good}},
		"no server pid":       {"|$3|%5|1000|2|4|1|1700000000|i|j|p/a|x\n", nil},
		"pid of letters":      {"991|$3|%5|x|2|4|1|1700000000|i|j|p/a|x\n", nil},
		"pid too large":       {"991|$3|%5|99999999999999999999|2|4|1|1700000000|i|j|p/a|x\n", nil},
	} {
		rig.Same(t, what, c.want, parsePanes(c.out))
	}
}

// Names and options of strangers may look like anything, also like ours.
func TestStrangersDoNotHideOurPane(t *testing.T) {
	s := newServer(t)
	ours := s.open(Spec{Name: "nbs-a-live", Command: shell(stay)})
	for _, name := range []string{"a|b|c", "|||||||", "nbs-a-live|0", "#(touch PWN)", "x y"} {
		id := s.raw("new-session", "-d", "-P", "-F", "#{session_id}", "-s", "x", "cat")
		s.raw("rename-session", "-t", id, "--", strings.ReplaceAll(name, "#", "##"))
		s.raw("set-option", "-t", id, invocationOption, "|"+name)
		s.raw("set-option", "-t", id, ownerOption, "|"+name)
	}
	panes := s.panes()
	rig.Check(t, len(panes) == 6 && slices.Contains(panes, ours), "Panes() = %+v; want six, one of them %+v", panes, ours)
	for _, pane := range panes {
		rig.Check(t, pane == ours || pane.Invocation != ours.Invocation, "a stranger passes for ours: %+v", pane)
	}
}

// What a person opens in the session of an agent is seen, and is not the agent's; it stays when
// the agent's pane ends.
func TestPanesOfAPersonBearNoMark(t *testing.T) {
	s := newServer(t)
	pane := s.open(Spec{Name: "nbs-a-live", Command: shell(stay)})
	s.raw("split-window", "-d", "-t", pane.ID, "cat")
	s.raw("new-window", "-d", "-t", pane.SessionID+":", "cat")
	panes := s.panes()
	for _, p := range panes {
		rig.Check(t, p.SessionID == pane.SessionID && p.SessionInvocation == pane.Invocation && (p.Invocation != "") == (p.ID == pane.ID), "%+v, the agent's is %+v", p, pane)
	}
	rig.Check(t, len(panes) == 3, "%d panes; want 3", len(panes))
	rig.Must(t, s.KillPane(t.Context(), pane))
	if _, there := s.find(pane.Invocation); there || len(s.panes()) != 2 {
		t.Errorf("after the end of the agent's pane: %+v", s.panes())
	}
}

// A start goes into a session that is there without being looked at, under the name that it
// is to have though another window has it too.
func TestNewWindow(t *testing.T) {
	s := newServer(t)
	first := s.open(Spec{Name: "nbs-a-live", Window: "a", Command: shell(stay)})
	spec := Spec{Window: "a", Owner: "p/a", Dir: s.dir, Invocation: agent.NewInvocation(), Command: shell(stay), Env: map[string]string{"NBS_LAUNCH": "x"}}
	rig.Must(t, s.NewWindow(t.Context(), first.SessionID, spec))
	second, there := s.find(spec.Invocation)
	rig.Check(t, there && second.SessionID == first.SessionID && !second.Active && second.SessionInvocation == spec.Invocation, "%+v beside %+v", second, first)
	rig.Equal(t, s.raw("list-windows", "-t", first.SessionID, "-F", "#{window_name}"), "a\na", "the windows are named")
	rig.Eventually(t, "the pane has its mark", func() bool { return slices.Contains(environ(t, second.PID), "NBS_LAUNCH=x") })
	spec.InView, spec.Invocation = true, agent.NewInvocation()
	rig.Must(t, s.NewWindow(t.Context(), first.SessionID, spec))
	third, _ := s.find(spec.Invocation)
	rig.Check(t, third.Active, "%+v is not shown", third)
	err := s.NewWindow(t.Context(), "$77", spec)
	rig.Check(t, errors.Is(err, ErrNoSession), "in a session that is not there: %v", err)
}

// A session that is held outlives its panes until it is released.
func TestHold(t *testing.T) {
	s := newServer(t)
	pane := s.open(Spec{Name: "nbs-a-live", Command: shell(stay)})
	release, err := s.Hold(t.Context(), pane.SessionID)
	rig.Must(t, err)
	if err := s.KillPane(t.Context(), pane); err != nil || len(s.panes()) != 1 {
		t.Errorf("%+v, %v", s.panes(), err)
	}
	if err := release(t.Context()); err != nil || len(s.panes()) != 0 {
		t.Errorf("%+v, %v", s.panes(), err)
	}
}

// Screens tell what panes show and whose they are, wherever a person has gone meanwhile; one
// that has gone hides no other.
func TestScreens(t *testing.T) {
	s := newServer(t)
	one := s.open(Spec{Name: "nbs-a-live", Command: shell("printf 'a|b\\n|c'; " + stay)})
	two := s.open(Spec{Name: "nbs-b-live", Command: shell("printf 'second'; " + stay)})
	s.raw("new-window", "-t", one.SessionID+":", "cat")
	var screens map[string]Screen
	rig.Eventually(t, "the words are there", func() bool {
		var err error
		if screens, err = s.Screens(t.Context(), []string{one.ID, two.ID}); err != nil {
			t.Fatal(err)
		}
		return strings.HasPrefix(screens[one.ID].Text, "a|b\n|c") && strings.HasPrefix(screens[two.ID].Text, "second")
	})
	screen := screens[one.ID]
	rig.Check(t, screen.Invocation == one.Invocation && screen.Width == 120 && screen.Height == 40 && strings.Count(screen.Text, "\n") == 40, "%+v", screen)
	rig.Must(t, s.KillPane(t.Context(), one))
	for _, ids := range [][]string{{one.ID, two.ID}, {two.ID, one.ID}} {
		screens, err := s.Screens(t.Context(), ids)
		_, there := screens[one.ID]
		rig.Check(t, !there && err == nil && len(screens) == 1, "%+v, %v", screens, err)
	}
}

// The list of panes comes with the screen of a session in one call. A session that has gone hides no pane.
func TestPanesWithAScreen(t *testing.T) {
	s := newServer(t)
	one := s.open(Spec{Name: "nbs-a-live", Command: shell("printf 'a|b\\n|c'; " + stay)})
	two := s.open(Spec{Name: "nbs-b-live", Command: shell(stay)})
	rig.Eventually(t, "the words are there", func() bool {
		listing, err := s.AskPanes(t.Context(), "nbs-a-live")()
		rig.Check(t, err == nil && len(listing.Panes) == 2 && len(listing.Screens) == 1, "%+v, %v", listing, err)
		screen := listing.Screens[one.ID]
		return screen.Invocation == one.Invocation && strings.HasPrefix(screen.Text, "a|b\n|c")
	})
	rig.Must(t, s.KillPane(t.Context(), one))
	listing, err := s.AskPanes(t.Context(), "nbs-a-live")()
	rig.Check(t, err == nil && len(listing.Panes) == 1 && listing.Panes[0].ID == two.ID && len(listing.Screens) == 0, "%+v, %v", listing, err)
}
