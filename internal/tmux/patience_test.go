package tmux

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"nbs-worker/internal/agent"
)

// pass lets time pass on the clock of the test.
func pass(d time.Duration) { <-time.After(d) }

// inVain waits for a server that gives no answer, as long as the patience lasts.
func (p *patience) inVain() time.Duration {
	begun, w := time.Now(), p.next(false)
	pass(w.limit)
	p.spend(begun)
	return w.limit
}

// Servers that all give no answer, asked one after the other.
func TestPatienceWithManyServers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var p patience
		begun := time.Now()
		for i, want := range []int64{2400, 960, 384, 153, 150, 150, 150} {
			if got := p.inVain().Milliseconds(); got != want {
				t.Errorf("call %d: %d ms; want %d", i, got, want)
			}
		}
		if all := time.Since(begun); all > 4500*time.Millisecond {
			t.Errorf("all took %s", all)
		}
	})
}

// One server that gives no answer leaves time to those that are only under load.
func TestPatienceAfterOneServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var p patience
		p.inVain()
		if left := p.next(false); left.limit < 900*time.Millisecond || left.before != 2400*time.Millisecond {
			t.Errorf("%+v", left)
		}
		pass(silence) // when it is asked again
		if again := p.next(false); again.limit != 2400*time.Millisecond {
			t.Errorf("after a while: %+v", again)
		}
	})
}

// A server that answers late each time gets more, for a while.
func TestPatienceWithASlowServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var p patience
		for i, want := range []int64{2400, 2400, 600} {
			begun := time.Now()
			if got := p.next(i > 0).limit.Milliseconds(); got != want {
				t.Errorf("call %d: %d ms; want %d", i, got, want)
			}
			pass(2 * time.Second)
			p.spend(begun)
		}
	})
}

func TestPatienceOfCallsSideBySide(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var p patience
		first := time.Now()
		pass(100 * time.Millisecond)
		second := time.Now()
		pass(900 * time.Millisecond)
		_ = p.next(false) // of a third
		p.spend(second)
		pass(100 * time.Millisecond)
		p.spend(first)
		// The tenth of a second before the later call, which ended first, is not counted.
		if spent := p.next(false).before; spent != time.Second { // and not two
			t.Errorf("counted %s", spent)
		}
	})
}

func TestWaitInVainTellsHowLongItWas(t *testing.T) {
	t.Parallel()
	for said, w := range map[string]wait{
		"tmux gave no answer within 2.5s":                                          {limit: 2500 * time.Millisecond},
		"tmux gave no answer within 150ms (4.7s went by in waiting for it before)": {limit: 150 * time.Millisecond, before: 4687 * time.Millisecond},
	} {
		if err := w.err(); err.Error() != said || agent.KindOf(err) != agent.TimedOut || len(agent.HintsOf(err)) != 1 {
			t.Errorf("%+v: %v %q; want %q", w, err, agent.HintsOf(err), said)
		}
	}
}

// What was not waited for costs nothing, however often; what was slow is refused before a
// restart.
func TestPaceOfAServer(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	for range 100 {
		s.answered(time.Now().Add(-slow / 2))
	}
	if before := s.shared.patience.next(false).before; before != 0 || s.CheckPace() != nil {
		t.Errorf("%s spent; %v", before, s.CheckPace())
	}
	s.answered(time.Now().Add(-slow))
	before, err := s.shared.patience.next(false).before, s.CheckPace()
	if before < slow/2 || agent.KindOf(err) != agent.TimedOut || !strings.HasPrefix(err.Error(), "tmux took 1s for one answer") {
		t.Errorf("%s spent; %v", before, err)
	}
	s.answered(time.Now())
	if err := s.CheckPace(); err != nil {
		t.Error(err)
	}
}
