package tmux

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/sim/rig"
)

func TestSessionFromStartToEnd(t *testing.T) {
	s := newServer(t)
	invocation := agent.NewInvocation()
	pane := s.open(Spec{
		Name: "nbs-theologian-live", Owner: "p/theologian", Invocation: invocation, Env: map[string]string{"NBS_LAUNCH": string(invocation)},
		Command: shell("printf '\\033[31mred \\342\\234\\223\\033[0m'; " + stay),
	})
	env := s.raw("show-environment", "-t", "=nbs-theologian-live")
	rig.Check(t, strings.Contains(env, "-NBS_LAUNCH"), "the mark is for every window of the session: %s", env)
	want := Pane{ServerPID: pane.ServerPID, Invocation: invocation, SessionInvocation: invocation, SessionOwner: "p/theologian", Session: "nbs-theologian-live"}
	got := pane
	got.SessionID, got.ID, got.PID, got.Window, got.Active, got.Touched = "", "", 0, 0, false, time.Time{}
	rig.Same(t, "the pane", want, got)
	rig.Eventually(t, "the screen shows the text without its colour", func() bool {
		screen, err := s.Screen(t.Context(), pane.ID)
		return err == nil && strings.HasPrefix(screen, "red \u2713\n")
	})
	rig.Check(t, pane.SessionID[0] == '$' && pane.ID[0] == '%', "the pane is %+v", pane)
	// A fork that is not its own program yet shows the server's environment, and one that just becomes it none.
	rig.Eventually(t, "the pane has its mark", func() bool { return slices.Contains(environ(t, pane.PID), "NBS_LAUNCH="+string(invocation)) })
	for range 2 {
		err := s.KillPane(t.Context(), pane)
		rig.Check(t, err == nil, "KillPane: %v", err)
	}
	rig.Eventually(t, "no panes", func() bool { return len(s.panes()) == 0 })
}

func TestDuplicateLeavesTheFirstAlone(t *testing.T) {
	s := newServer(t)
	first := s.open(Spec{Name: "nbs-a-live", Command: shell(stay)})
	err := s.NewSession(t.Context(), Spec{Name: "nbs-a-live", Dir: s.dir, Invocation: "second", Command: shell(stay)})
	rig.Check(t, errors.Is(err, ErrDuplicate), "NewSession = %v; want %v", err, ErrDuplicate)
	rig.Same(t, "the panes", []Pane{first}, s.panes())
}

// tmux takes a bare name for a prefix and for a pattern.
func TestNamesAreExact(t *testing.T) {
	s := newServer(t)
	bobby := s.open(Spec{Name: "nbs-bobby-live", Command: shell(stay)})
	bob := s.open(Spec{Name: "nbs-bob", Command: shell(stay)})
	now, there := s.find(bobby.Invocation)
	rig.Check(t, there && now == bobby, "the start of bob changed bobby: %+v", now)
	rig.Must(t, s.KillPane(t.Context(), bob))
	rig.Must(t, s.KillPane(t.Context(), bob))
	rig.Same(t, "the panes", []Pane{bobby}, s.panes())
}

// tmux expands formats in folders that it is given, and runs #(...).
func TestFolderIsTakenAsItIs(t *testing.T) {
	s := newServer(t)
	for i, name := range []string{"p#(touch PWN)#{pid};", "$(touch PWN)", "`touch PWN`; touch PWN", "-d", "~", "a\\;b'\"", "\u2713 \u00e9"} {
		dir := filepath.Join(s.dir, name)
		rig.Must(t, os.Mkdir(dir, 0o700))
		out := "cwd" + string(rune('0'+i))
		s.open(Spec{Name: "nbs-" + out, Dir: dir, Command: shell(s.wholly("pwd -P", out))})
		rig.Equal(t, strings.TrimSuffix(s.written(out), "\n"), dir, "the command ran in")
	}
	s.wantNothingExecuted()
}

func (s *server) wantNothingExecuted() {
	s.t.Helper()
	err := filepath.WalkDir(s.dir, func(path string, _ os.DirEntry, err error) error {
		rig.Check(s.t, filepath.Base(path) != "PWN", "something was executed: %s is there", path)
		return err
	})
	rig.Check(s.t, err == nil, "%v", err)
}

func TestCommandWordsArriveAsTheyAre(t *testing.T) {
	s := newServer(t)
	words := []string{
		"evil;", "run-shell", "touch " + filepath.Join(s.dir, "PWN"), ";", "a\\;", ";;", "#(touch PWN)", "#{pid}", "$(touch PWN)",
		"", "-d", "--", "two words", "line\nbreak", `quo"te'`, "{", "}", "~", "%1", "\u2713", "\xff", ";",
	}
	s.open(Spec{Name: "nbs-a-live", Command: shell(s.wholly(`printf '%s\0' "$@"`, "words"), words...)})
	got := strings.Split(strings.TrimSuffix(s.written("words"), "\x00"), "\x00")
	rig.Same(t, "the words", words, got)
	s.wantNothingExecuted()
}

// A dead pane that stays makes tmux 3.3a crash at the next paste.
func TestSessionEndsWithItsCommandWhateverTheServerWants(t *testing.T) {
	s := newServer(t)
	s.open(Spec{Name: "nbs-keeper", Command: shell(stay)})
	s.raw("set-option", "-g", "remain-on-exit", "on")
	s.raw("set-option", "-g", "destroy-unattached", "on")
	pane := s.open(Spec{Name: "nbs-a-live", Command: shell(`read line; exit "$line"`)})
	if now, there := s.find(pane.Invocation); !there {
		t.Fatalf("the session does not stay: %+v", now)
	}
	s.raw("send-keys", "-t", pane.ID, "7", "Enter")
	rig.Eventually(t, "the session is gone", func() bool {
		_, there := s.find(pane.Invocation)
		return !there
	})
}

func TestFolderThatIsNotThere(t *testing.T) {
	s := newServer(t)
	err := s.NewSession(t.Context(), Spec{Name: "nbs-a-live", Dir: s.dir + "/gone", Command: shell(stay)})
	rig.Check(t, errors.Is(err, os.ErrNotExist) && strings.Contains(err.Error(), s.dir+"/gone"), "NewSession = %v; want the cause", err)
	panes := s.panes()
	rig.Check(t, len(panes) == 0, "a session was made elsewhere: %v", panes)
}

// tmux says so, and ends with 0.
func TestSocketThatCannotBeMade(t *testing.T) {
	s := newServer(t)
	client, err := New(s.dir + "/gone/s")
	rig.Must(t, err)
	err = client.NewSession(t.Context(), Spec{Name: "nbs-a-live", Dir: s.dir, Command: shell(stay)})
	rig.Check(t, err != nil && !errors.Is(err, ErrNoServer) && strings.Contains(err.Error(), "error creating "+s.dir+"/gone/s"), "NewSession = %v; want the cause", err)
}
