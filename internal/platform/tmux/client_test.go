package tmux

import (
	"context"
	"errors"
	"strings"
	"syscall"
	"testing"
	"time"

	"nbs-worker/internal/fail"
	"nbs-worker/internal/sim/rig"
)

func TestNewChecksTheSocket(t *testing.T) {
	t.Parallel()
	for _, socket := range []string{"", "default", "nbs-test_1", "/tmp/nbs/s", "/tmp/with blank;#{pid}"} {
		_, err := New(socket)
		rig.Check(t, err == nil, "New(%q): %v", socket, err)
	}
	for _, socket := range []string{"a.b", "a:b", "-L", "a b", "a;", "#(x)", "relative/path", "../s", "/tmp/a\nb", "/tmp/\xff"} {
		_, err := New(socket)
		rig.Check(t, err != nil && fail.KindOf(err) == fail.BadInput && strings.Contains(err.Error(), "tmux socket"), "New(%q): %v; want bad input", socket, err)
	}
}

func TestNewNeedsTmux(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	_, err := New("")
	rig.Check(t, fail.KindOf(err) == fail.Unfit && len(fail.HintsOf(err)) != 0, "New without tmux: %v; want unfit, with a remedy", err)
}

func TestClassify(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]error{
		"no server running on /tmp/tmux-0/default":                            ErrNoServer,
		"error connecting to /tmp/tmux-0/default (No such file or directory)": ErrNoServer,
		"server exited unexpectedly":                                          ErrNoServer,
		"lost server":                                                         ErrNoServer,
		"can't find session: $7":                                              ErrNoSession,
		"can't find pane: %7":                                                 ErrNoSession,
		"can't find window: x":                                                ErrNoSession,
		"no current target":                                                   ErrNoSession,
		"duplicate session: nbs-a-live":                                       ErrDuplicate,
		"access not allowed":                                                  errDenied,
		"error creating /gone/s (No such file or directory)":                  errNoSocket,
		"error connecting to /tmp/tmux-0/default (Permission denied)":         nil,
		"error connecting to /tmp/tmux-0/default (Too many open files)":       nil,
		"error connecting to /tmp/x/s (Resource temporarily unavailable)":     nil,
		"command too long":                                                    nil,
		"create window failed: fork failed: Resource temporarily unavailable": nil,
		"/tmp/tmux-1000/ has unsafe permissions":                              nil,
		"":                                                                    nil,
		"error connecting to /tmp/" + strings.Repeat("x", 99) + " (File name too long)": nil,
	} {
		got := classify(text + "\n")
		for _, known := range []error{ErrNoServer, ErrNoSession, ErrDuplicate, errDenied, errNoSocket} {
			if errors.Is(got, known) != errors.Is(want, known) {
				t.Errorf("%q: is it %q? %t", text, known, errors.Is(got, known))
			}
		}
		rig.Check(t, strings.Contains(got.Error(), text), "%q: the text is lost: %v", text, got)
	}
}

func TestWithoutAServer(t *testing.T) {
	s := newServer(t)
	panes := s.panes()
	rig.Check(t, len(panes) == 0, "panes without a server: %v", panes)
	rig.Must(t, s.KillPane(t.Context(), Pane{ID: "%0", PID: 1}))
	_, err := s.Screen(t.Context(), "%0")
	rig.Check(t, errors.Is(err, ErrNoServer), "screen without a server: %v; want no server", err)
}

// A query that failed is no statement about an agent.
func TestAServerThatCannotBeReachedIsNoAbsentOne(t *testing.T) {
	t.Parallel()
	for _, path := range []string{"/proc/self/mem/not-a-folder", "/tmp/" + strings.Repeat("x", 150)} {
		c, err := New(path)
		rig.Must(t, err)
		panes, err := c.Panes(t.Context())
		rig.Check(t, err != nil && !errors.Is(err, ErrNoServer), "%s: Panes() = %v, %v; want an error that is not %q", path, panes, err, ErrNoServer)
	}
}

func TestAStoppedServerEndsACallInTime(t *testing.T) {
	s := newServer(t)
	first := s.open(Spec{Name: "nbs-a-live", Command: shell(stay)})
	signal(t, first.ServerPID, syscall.SIGSTOP)
	t.Cleanup(func() { _ = syscall.Kill(first.ServerPID, syscall.SIGCONT) }) // before the server is ended
	hasty, cancel := context.WithTimeout(t.Context(), time.Second/10)
	defer cancel()
	_, hurried := s.Panes(hasty)
	ctx, cancel := context.WithTimeout(t.Context(), proof)
	defer cancel()
	panes, err := s.Panes(ctx)
	rig.Check(t, hurried != nil && !errors.Is(err, hurried), "a call with little time has spoken for the next one: %v", err)
	rig.Check(t, strings.HasPrefix(err.Error(), "the tmux server was silent for "), "%v", err)
	rig.Check(t, panes == nil && fail.KindOf(err) == fail.TimedOut && len(fail.HintsOf(err)) != 0, "Panes() = %v, %v; want a time-out with a remedy", panes, err)
	rig.Check(t, !errors.Is(err, ErrNoServer), "%v is taken for an absent server", err)
	// A verb makes several calls: those that follow do not wait again.
	_, again := s.Screen(t.Context(), first.ID)
	rig.Check(t, errors.Is(again, err), "the second call waited: %v; want %v", again, err)
	rig.Gives(t, first.ServerPID, "ServerPID()")(s.ServerPID())
	signal(t, first.ServerPID, syscall.SIGCONT)
	// The next command knows nothing of this.
	if s.Client, err = New(s.socket); err != nil {
		t.Fatal(err)
	}
	panes = s.panes()
	rig.Check(t, len(panes) == 1, "after it goes on: %v", panes)
}

// The name and the path of a socket are one server.
func TestWhatOneClientMetHoldsForAnother(t *testing.T) {
	servers := NewServers()
	byName, err := servers.Client("nbs-a")
	rig.Must(t, err)
	byPath, err := servers.Client(byName.Path())
	rig.Must(t, err)
	other, err := servers.Client("nbs-b")
	rig.Must(t, err)
	_ = byName.server.silentFor(proof, 0)
	if _, err := byPath.Panes(t.Context()); fail.KindOf(err) != fail.TimedOut {
		t.Errorf("by path: %v", err)
	}
	_, err = other.Panes(t.Context())
	rig.Check(t, err == nil, "another server: %v", err)
}

func TestAnInterruptIsNoTimeout(t *testing.T) {
	s := newServer(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := s.Panes(ctx)
	rig.Check(t, fail.KindOf(err) == fail.Interrupted && errors.Is(err, context.Canceled), "Panes: %v; want interrupted", err)
}

func TestAServerThatWasKilledIsAbsent(t *testing.T) {
	s := newServer(t)
	first := s.open(Spec{Name: "nbs-a-live", Command: shell(stay)})
	signal(t, first.ServerPID, syscall.SIGKILL)
	rig.Eventually(t, "no panes", func() bool { return len(s.panes()) == 0 })
	pane := s.open(Spec{Name: "nbs-a-live", Command: shell(stay)})
	rig.Check(t, pane.ServerPID != first.ServerPID, "the new session is in the killed server %d", pane.ServerPID)
}
