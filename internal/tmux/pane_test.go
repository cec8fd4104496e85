package tmux

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"nbs-worker/internal/sim/rig"
)

func TestParsePanes(t *testing.T) {
	t.Parallel()
	good := Pane{ServerPID: 991, SessionID: "$3", ID: "%5", PID: 1000, Invocation: "i", Session: "nbs-a-live"}
	other := Pane{ServerPID: 991, SessionID: "$4", ID: "%6", PID: 1001, Session: "other"}
	named := good
	named.Session = "a|b|$1|%1|7|1|"
	for what, c := range map[string]struct {
		out  string
		want []Pane
	}{
		"nothing":             {"", nil},
		"empty line":          {"\n", nil},
		"ours":                {"991|$3|%5|1000|i|nbs-a-live\n", []Pane{good}},
		"without final break": {"991|$3|%5|1000|i|nbs-a-live", []Pane{good}},
		"a stranger's":        {"991|$4|%6|1001||other\n", []Pane{other}},
		"bars in the name":    {"991|$3|%5|1000|i|a|b|$1|%1|7|1|\n", []Pane{named}},
		"too few fields":      {"991|$3|%5|1000|i\n991|$3|%5|1000|i|nbs-a-live\n", []Pane{good}},
		"no server pid":       {"|$3|%5|1000|i|x\n", nil},
		"pid of letters":      {"991|$3|%5|x|i|x\n", nil},
		"pid too large":       {"991|$3|%5|99999999999999999999|i|x\n", nil},
	} {
		if diff := cmp.Diff(c.want, parsePanes(c.out)); diff != "" {
			t.Errorf("%s: -want +got:\n%s", what, diff)
		}
	}
}

// Names and options of strangers may look like anything, also like ours.
func TestStrangersDoNotHideOurPane(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	ours := s.open(Spec{Name: "nbs-a-live", Command: shell(stay)})
	for _, name := range []string{"a|b|c", "|||||||", "nbs-a-live|0", "#(touch PWN)", "x y"} {
		id := s.raw("new-session", "-d", "-P", "-F", "#{session_id}", "-s", "x", "cat")
		s.raw("rename-session", "-t", id, "--", strings.ReplaceAll(name, "#", "##"))
		s.raw("set-option", "-t", id, invocationOption, "|"+name)
	}
	panes := s.panes()
	if len(panes) != 6 || !slices.Contains(panes, ours) {
		t.Errorf("Panes() = %+v; want six, one of them %+v", panes, ours)
	}
	for _, pane := range panes {
		if pane != ours && pane.Invocation == ours.Invocation {
			t.Errorf("a stranger passes for ours: %+v", pane)
		}
	}
}

func TestPanesOfManyWindowsAreAllSeen(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	pane := s.open(Spec{Name: "nbs-a-live", Command: shell(stay)})
	s.raw("split-window", "-d", "-t", pane.ID, "cat")
	s.raw("new-window", "-d", "-t", pane.SessionID+":", "cat")
	panes := s.panes()
	for _, p := range panes {
		if p.SessionID != pane.SessionID || p.Invocation != pane.Invocation {
			t.Errorf("%+v is not of the session %s", p, pane.SessionID)
		}
	}
	if len(panes) != 3 {
		t.Errorf("%d panes; want 3", len(panes))
	}
	if err := s.Kill(t.Context(), pane.SessionID); err != nil {
		t.Fatal(err)
	}
	rig.Eventually(t, "no panes", func() bool { return len(s.panes()) == 0 })
}

// A look tells what the pane shows and whose it is, wherever a person has gone in the
// session meanwhile.
func TestLook(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	pane := s.open(Spec{Name: "nbs-a-live", Command: shell("printf 'a|b\\n|c'; " + stay)})
	s.raw("new-window", "-t", pane.SessionID+":", "cat")
	var screen Screen
	rig.Eventually(t, "the words are there", func() bool {
		var err error
		if screen, err = s.Look(t.Context(), pane.ID); err != nil {
			t.Fatal(err)
		}
		return strings.HasPrefix(screen.Text, "a|b\n|c")
	})
	if screen.Invocation != pane.Invocation || screen.Width != 120 || screen.Height != 40 || strings.Count(screen.Text, "\n") != 40 {
		t.Errorf("%+v", screen)
	}
	s.open(Spec{Name: "nbs-b-live", Command: shell(stay)}) // the server stays, and with it the ids
	if err := s.Kill(t.Context(), pane.SessionID); err != nil {
		t.Fatal(err)
	}
	if screen, err := s.Look(t.Context(), pane.ID); !errors.Is(err, ErrNoSession) {
		t.Errorf("a pane that is gone: %+v, %v", screen, err)
	}
}

// What tmux says is passed on, and one of its refusals is known whatever stands around
// it.
func FuzzClassify(f *testing.F) {
	for _, text := range []string{
		"no server running on /tmp/tmux-0/default", "error connecting to /tmp/s (No such file or directory)", "can't find session: =x", "",
		"duplicate session: nbs-a-live", "access not allowed\n", "lost server\ncan't find pane: %5", "\xff\x1b[0m",
	} {
		f.Add(text, "lost server")
		f.Add("x", text)
	}
	f.Fuzz(func(t *testing.T, before, text string) {
		failure := classify(before + text)
		if failure == nil || !strings.Contains(failure.Error(), strings.TrimSpace(before+text)) {
			t.Fatalf("%q is passed on as %v", before+text, failure)
		}
		known := 0
		for _, kind := range []error{ErrNoServer, ErrNoSession, ErrDuplicate, errDenied} {
			if errors.Is(failure, kind) {
				known++
			}
		}
		if known > 1 || known == 0 && strings.Contains(text, "no server running") {
			t.Errorf("%q is of %d kinds", before+text, known)
		}
	})
}

func FuzzParsePanes(f *testing.F) {
	f.Add("991|$3|%5|1000|i|nbs-a-live\n")
	f.Add("991|$3|%5|1000|1||a|b\n\n|\n991|$3|%5|x|i|x")
	f.Add("1|2|3|4|5|6|7\x00\xff\r\n")
	f.Fuzz(func(t *testing.T, out string) {
		panes := parsePanes(out)
		if lines := strings.Count(out, "\n") + 1; len(panes) > lines {
			t.Errorf("%d panes from %d lines", len(panes), lines)
		}
		for _, pane := range panes {
			if strings.ContainsRune(pane.SessionID+pane.ID+string(pane.Invocation), '|') {
				t.Errorf("a field holds a bar: %+v", pane)
			}
		}
	})
}
