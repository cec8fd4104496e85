package launcher

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/platform/machine/local"
	"nbs-worker/internal/sim/rig"
	"nbs-worker/internal/store"
	"nbs-worker/internal/team/observe"
)

// again is a Restarter that a test has thought up.
type again struct {
	t      *testing.T
	store  *store.Store
	starts int   // that it makes ready; then the agent is not to be started any more
	err    error // in the place of a start
	prove  error
	proof  func() // takes its time
	leased []bool // whether the conversation was held when it was asked
	proved int

	released chan struct{}   // a word for each start
	waited   []time.Duration // as the backoff would have it, less its jitter
	calls    int
}

func (a *again) Ready(ctx context.Context, over *agent.Record, last store.Launch) (Restart, error) {
	a.calls++
	_, leased := a.store.LeaseHolder(alphaID)
	a.leased = append(a.leased, leased)
	switch {
	case a.err != nil:
		err := a.err
		a.err = nil
		return Restart{}, err
	case len(a.leased) > a.starts:
		return Restart{}, agent.ErrSuperseded
	}
	last.Invocation = agent.Invocation(fmt.Sprintf("%08d-0d0c-4b43-9e0a-2f6b8f5c9a11", a.calls))
	_, err := a.store.Update(ctx, over.Handle, func(r *agent.Record) error {
		r.Process, r.Restarts.Next = &agent.Process{Invocation: last.Invocation}, time.Time{}
		return nil
	})
	return Restart{Launch: last, Prove: func(context.Context) error {
		a.proved++
		if a.proof != nil {
			a.proof()
		}
		return a.prove
	}, Release: func() { a.released <- struct{}{} }}, err
}

// restarting is a launcher of an agent with a policy, whose claude is a script.
func restarting(t *testing.T, word agent.RestartWord, script string, a *again) *Launcher {
	t.Helper()
	s := newProject(t)
	moveAlpha(t, s, alphaID)
	if _, err := s.Update(t.Context(), "alpha", func(r *agent.Record) error { r.Restart.Policy = word; return nil }); err != nil {
		t.Fatal(err)
	}
	launchOf(t, s, script)
	a.t, a.store, a.released = t, s, make(chan struct{}, 9)
	l := &Launcher{Machine: local.New(), Store: s, Now: time.Now, Restarts: a}
	l.testOnlyAfter = func(in time.Duration) <-chan time.Time {
		if in == provingAtMost {
			return time.After(0)
		}
		a.waited = append(a.waited, in.Round(time.Second))
		return time.After(0)
	}
	return l
}

// told are the events of the journal, less those that hold no decision.
func told(t *testing.T, s *store.Store, wanted ...string) (all []string) {
	t.Helper()
	for _, e := range journalOf(t, s) {
		if slices.Contains(wanted, e.Event) {
			all = append(all, e.Event+": "+e.Detail)
		}
	}
	return all
}

// What a policy has started again is a start like the first: it has its own name in the record, holds
// the conversation, is proved, and its exit is noted. In between nothing is held.
func TestRunStartsAgainForAsLongAsThePolicySaysSo(t *testing.T) { //nolint:paralleltest // signals are the process's
	a := &again{starts: 1}
	l := restarting(t, agent.RestartOnFailure, "exit 7", a)
	if code, err := l.Run(t.Context(), "alpha", start); code != 7 || err != nil {
		t.Errorf("Run = %d, %v; want 7", code, err)
	}
	r, err := l.Store.Load("alpha")
	if err != nil {
		t.Fatal(err)
	}
	var ended []agent.Invocation
	for _, exit := range r.Exits {
		ended = append(ended, exit.Invocation)
	}
	if diff := cmp.Diff([]agent.Invocation{start, "00000001-0d0c-4b43-9e0a-2f6b8f5c9a11"}, ended); diff != "" {
		t.Errorf("exits: -want +got:\n%s", diff)
	}
	if diff := cmp.Diff([]bool{false, false}, a.leased); diff != "" || a.proved != 1 {
		t.Errorf("proved %d times; the conversation is held between two starts: -want +got:\n%s", a.proved, diff)
	}
	if len(r.Restarts.Counted) != 2 || r.Restarts.Step != 2 || r.Restarts.Next.IsZero() {
		t.Errorf("%+v is remembered", r.Restarts)
	}
	if diff := cmp.Diff([]time.Duration{time.Second, 2 * time.Second}, a.waited); diff != "" {
		t.Errorf("waited: -want +got:\n%s", diff)
	}
	got := told(t, l.Store, "backoff")
	if len(got) != 2 || !strings.Contains(got[0], "code 7, failure 1 of 5 in 10 minutes") || !strings.Contains(got[1], "failure 2 of 5") {
		t.Errorf("the journal tells %q", got)
	}
}

// Without a policy, and after an end that was asked for, nobody is asked for another start.
func TestRunLeavesWithItsClaude(t *testing.T) { //nolint:paralleltest // signals are the process's
	for what, c := range map[string]struct {
		word   agent.RestartWord
		script string
	}{
		"no policy":              {agent.RestartNo, "exit 7"},
		"the launcher was asked": {agent.RestartAlways, "kill -TERM $PPID; exec sleep 60"},
	} {
		a := &again{starts: 1}
		l := restarting(t, c.word, c.script, a)
		if _, err := l.Run(t.Context(), "alpha", start); err != nil || a.calls > 0 {
			t.Errorf("%s: %v, asked %d times", what, err, a.calls)
		}
		if r, err := l.Store.Load("alpha"); err != nil || len(r.Exits) != 1 || !r.Restarts.IsZero() {
			t.Errorf("%s: %v, %+v", what, err, r)
		}
	}
}

// Who would have the launcher leave does not wait for its next start.
func TestASignalEndsTheBackoff(t *testing.T) { //nolint:paralleltest // signals are the process's
	for _, sig := range []unix.Signal{unix.SIGTERM, unix.SIGHUP, unix.SIGINT} {
		a := &again{starts: 1}
		l := restarting(t, agent.RestartOnFailure, "exit 7", a)
		l.testOnlyAfter = func(time.Duration) <-chan time.Time {
			_ = unix.Kill(os.Getpid(), sig)
			return nil // for ever
		}
		if _, err := l.Run(t.Context(), "alpha", start); err != nil || a.calls > 0 {
			t.Errorf("%s: %v, asked %d times", sig, err, a.calls)
		}
		if got := told(t, l.Store, "down"); len(got) != 1 {
			t.Errorf("%s: the journal tells %q", sig, got)
		}
	}
}

// Nor does a launcher wait for a start that a command has taken back.
func TestAPolicyThatIsTakenBackEndsTheBackoff(t *testing.T) { //nolint:paralleltest // signals are the process's
	a := &again{starts: 1}
	l := restarting(t, agent.RestartOnFailure, "exit 7", a)
	l.testOnlyAfter = func(time.Duration) <-chan time.Time {
		_, err := l.Store.Update(t.Context(), "alpha", func(r *agent.Record) error { r.Restart.Policy = agent.RestartNo; return nil })
		rig.Must(t, err)
		rig.Must(t, unix.Kill(os.Getpid(), observe.FollowSignal))
		return nil // for ever
	}
	if code, err := l.Run(t.Context(), "alpha", start); code != 7 || err != nil || a.calls > 0 {
		t.Errorf("Run = %d, %v, asked %d times", code, err, a.calls)
	}
	if got := told(t, l.Store, "down"); len(got) != 0 {
		t.Errorf("the journal tells %q", got)
	}
}

// A pause that comes while the launcher queues for its turn is waited for, and so is room on a full
// disk: neither is a failure.
func TestWhatIsWaitedForWhileAStartIsMadeReady(t *testing.T) { //nolint:paralleltest // signals are the process's
	for cause, every := range map[error]time.Duration{ErrPaused: pauseRetry, unix.ENOSPC: roomRetry, unix.EDQUOT: roomRetry} {
		a := &again{starts: 2, err: fmt.Errorf("not yet: %w", cause)}
		l := restarting(t, agent.RestartOnFailure, "exit 7", a)
		if _, err := l.Run(t.Context(), "alpha", start); err != nil {
			t.Errorf("%v: %v", cause, err)
		}
		if diff := cmp.Diff([]time.Duration{time.Second, every, 2 * time.Second}, a.waited); diff != "" {
			t.Errorf("%v: waited: -want +got:\n%s", cause, diff)
		}
		if r, err := l.Store.Load("alpha"); err != nil || len(r.Exits) != 2 || len(r.Restarts.Counted) != 2 || r.Restarts.Hold != nil {
			t.Errorf("%v: %v, %+v, %+v", cause, err, r.Restarts, r.Exits)
		}
	}
}

// What keeps the next start from being made ready is a failure like another, or a hold.
func TestAStartThatCannotBeMadeReady(t *testing.T) { //nolint:paralleltest // signals are the process's
	for class, cause := range map[agent.EndClass]error{
		agent.EndConflict: fail.Errorf(fail.Conflict, "another claude has the conversation open"),
		agent.EndConfig:   fail.Errorf(fail.NotFound, "the conversation cannot be resumed: its transcript is gone"),
		"":                errors.New("no room on the disk"),
	} {
		testUnready(t, class, cause)
	}
	testUnready(t, "", fail.Errorf(fail.Conflict, ".nbs/locks/journal %w for 5s", store.ErrStayedLocked))
}

func testUnready(t *testing.T, class agent.EndClass, cause error) {
	t.Helper()
	a := &again{err: cause}
	l := restarting(t, agent.RestartOnAbnormal, "kill -KILL $$", a)
	if _, err := l.Run(t.Context(), "alpha", start); err != nil {
		t.Errorf("%v: %v", cause, err)
	}
	r, err := l.Store.Load("alpha")
	held := r.Restarts.Hold
	if err != nil || (held != nil) != (class != "") || held != nil && (held.Class != class || held.Reason != cause.Error()) {
		t.Errorf("%v: %v, held %+v", cause, err, held)
	}
	if class == "" && (a.calls != 2 || len(r.Restarts.Counted) != 2) {
		t.Errorf("%v: asked %d times, %+v", cause, a.calls, r.Restarts)
	}
}

// What the journal cannot be told keeps no agent down: its record says that it is started again.
func TestAnEndThatIsNotJournaledIsFollowedAllTheSame(t *testing.T) { //nolint:paralleltest // signals are the process's
	a := &again{}
	l := restarting(t, agent.RestartOnFailure, "until rm .nbs/journal.jsonl 2>&-; do :; done; mkdir .nbs/journal.jsonl; exit 7", a)
	if _, err := l.Run(t.Context(), "alpha", start); err != nil || a.calls != 1 {
		t.Errorf("%v, asked %d times", err, a.calls)
	}
}

// What runs though it must not is ended, and held.
func TestAStartThatMustNotRun(t *testing.T) { //nolint:paralleltest // signals are the process's
	a := &again{starts: 1, prove: fail.Errorf(fail.Conflict, "another claude has the conversation open")}
	l := restarting(t, agent.RestartOnFailure, `test -e ran && exec sleep 60; touch ran; exit 7`, a)
	if _, err := l.Run(t.Context(), "alpha", start); err != nil {
		t.Error(err)
	}
	r, err := l.Store.Load("alpha")
	if err != nil || r.Restarts.Hold == nil || r.Restarts.Hold.Class != agent.EndConflict || len(r.Exits) != 2 || r.Exits[1].Signal != "killed" {
		t.Errorf("%v, %+v, %+v", err, r.Restarts, r.Exits)
	}
}

// A claude that hangs keeps nobody from the agent for as long as its proof would take.
func TestAProofThatTakesLongHoldsNobodyUp(t *testing.T) { //nolint:paralleltest // signals are the process's
	a := &again{starts: 1}
	a.proof = func() { <-a.released; a.released <- struct{}{} }
	l := restarting(t, agent.RestartOnFailure, "exit 7", a)
	if _, err := l.Run(t.Context(), "alpha", start); err != nil || len(a.released) != 1 {
		t.Errorf("%v, let go of %d times", err, len(a.released))
	}
}

// A machine that sleeps while an agent waits for the end of a usage limit does not make it wait for longer. A clock that
// is set back does not either.
func TestTheWaitForAStartEndsByTheClockToo(t *testing.T) {
	t.Parallel()
	const sleeps, setBack = 9 * time.Hour, -3 * time.Hour
	for jump, want := range map[time.Duration]time.Duration{0: 5 * time.Hour, sleeps: 2 * time.Minute, setBack: 5 * time.Hour} {
		now, waited := time.Now().Round(0), time.Duration(0)
		l := &Launcher{Store: newProject(t), Now: func() time.Time { return now }}
		l.testOnlyAfter = func(in time.Duration) <-chan time.Time {
			if waited += in; waited == 2*time.Minute {
				now = now.Add(jump)
			}
			now = now.Add(in)
			return time.After(0)
		}
		rig.Must(t, l.due(t.Context(), 5*time.Hour))
		rig.Equal(t, waited, want, "the wait with a jump of the clock of %s", jump)
	}
}
