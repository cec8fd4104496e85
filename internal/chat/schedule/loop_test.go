package schedule

import (
	"context"
	"errors"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"nbs-worker/internal/sim/rig"
)

// machine is what a loop runs on: a clock that may be set, a disk, and who runs what is due.
type machine struct {
	t     *testing.T
	file  *File
	takes time.Duration // of a run

	mu       sync.Mutex
	ahead    time.Duration // of the clock
	disk     map[string]Last
	full     bool
	random   *rand.Rand // nil: it never crashes
	crashes  map[string]int
	down     context.CancelFunc
	dead     bool
	accepted map[string]time.Time // by id
	began    []time.Time          // of all runs that were accepted, by a clock that is not set
	handed   map[string]int
	actions  []Action
	talks    []Talk
	resets   []Reset
}

func newMachine(t *testing.T, file *File) *machine {
	return &machine{
		t: t, file: file, takes: 20 * time.Second, disk: map[string]Last{}, crashes: map[string]int{},
		accepted: map[string]time.Time{}, handed: map[string]int{},
	}
}

var errCrashed = errors.New("crashed")

// crash crashes the machine at a step, now and then. From then on nothing has an effect.
func (m *machine) crash(step string) bool {
	if !m.dead && m.random != nil && m.random.IntN(200) == 0 {
		m.crashes[step]++
		m.dead = true
		m.down()
	}
	return m.dead
}

func (m *machine) Now() time.Time {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.now()
}

func (m *machine) now() time.Time { return time.Now().Add(m.ahead) }

// setClock sets the clock.
func (m *machine) setClock(by time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.ahead += by
}

func (m *machine) Recall() (map[string]Last, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return maps.Clone(m.disk), nil
}

func (m *machine) Remember(lasts map[string]Last) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.crash("before it is written down") {
		return errCrashed
	}
	if m.full {
		return errors.New("the disk is full")
	}
	m.disk = maps.Clone(lasts)
	m.crash("when it is written down")
	return nil
}

// Run accepts what it does not know, as conversations do.
func (m *machine) Run(ctx context.Context, due Due) error {
	if err := m.accept(due); err != nil {
		return err
	}
	select {
	case <-time.After(m.takes):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (m *machine) accept(due Due) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.crash("before it is accepted") {
		return errCrashed
	}
	m.handed[due.ID()]++
	rig.Check(m.t, due.Again == (m.handed[due.ID()] > 1) || due.Again, "%s is handed over as if for the first time", due.ID())
	if _, known := m.accepted[due.ID()]; !known {
		m.accepted[due.ID()] = m.now()
		m.began = append(m.began, time.Now())
	}
	m.crash("when it is accepted")
	return nil
}

func (m *machine) Talks() ([]Talk, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.talks, nil
}

func (m *machine) Reset(_ context.Context, reset Reset) (bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.resets = append(m.resets, reset)
	m.talks = nil
	return true, nil
}

func (m *machine) say(d Action) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.actions = append(m.actions, d)
}

// with changes the machine while a loop may run in it.
func (m *machine) with(change func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	change()
}

// up starts the loop; over is closed at its end.
func (m *machine) up() (down func(), over chan struct{}) {
	ctx, cancel := context.WithCancel(m.t.Context())
	m.with(func() { m.down, m.dead = cancel, false })
	loop := &Loop{File: m.file, Memory: m, Runner: m, Conversations: m, Say: m.say, Now: m.Now}
	over = make(chan struct{})
	go func() {
		defer close(over)
		if err := loop.Run(ctx); !errors.Is(err, context.Canceled) {
			m.t.Errorf("the loop ended with %v", err)
		}
	}()
	return func() { cancel(); <-over }, over
}

// pass lets time pass, of the bubble. What the test has read was before that, and what the loop does is
// before what the test reads next.
func (m *machine) pass(d time.Duration) {
	m.with(func() {})
	<-time.After(d)
	synctest.Wait()
	m.with(func() {})
}

// ranOnce checks that all times between two moments ran, and nothing else.
func (m *machine) ranOnce(from, to time.Time) {
	m.t.Helper()
	want := 0
	for _, e := range m.file.Entries {
		for _, at := range between(e.Times, from.Add(1), to) {
			want++
			began, ran := m.accepted[Due{Entry: e, ScheduledFor: at}.ID()]
			if !ran || began.Sub(at) > grace {
				m.t.Errorf("%s, %s: it ran: %v, at %s", e.Name, at, ran, began)
			}
		}
	}
	rig.Check(m.t, len(m.accepted) == want && want > 0, "%d runs; want %d", len(m.accepted), want)
}

const year = `
zone: Europe/Berlin
schedules:
  gap: {cron: "30 2 * * *", prompt: x}
  twice: {cron: "30 1 * * *", zone: America/Los_Angeles, prompt: x}
  quarter: {cron: "*/15 0-3 * * *", zone: America/New_York, prompt: x}
  midnight: {cron: "0 0 * * *", zone: America/Sao_Paulo, prompt: x}
  leap: {cron: "0 12 29 2 *", prompt: x}
  odd: {every: 7h, prompt: x, overlap: queue}
  lord: {cron: "15,45 1-3 * * 0", zone: Australia/Lord_Howe, prompt: x, missed: once}
`

// Over a year, with a crash at any step and a restart at any time, each time is run once.
func TestYearOfCrashes(t *testing.T) {
	t.Parallel()
	for seed := range uint64(1) {
		synctest.Test(t, func(t *testing.T) {
			m := newMachine(t, mustParse(t, year))
			m.random = rand.New(rand.NewPCG(seed, 16))
			rests := rand.New(rand.NewPCG(seed, 17)) // for how long it runs, and does not
			from := time.Now()
			to := from.AddDate(1, 0, 0)
			for time.Now().Before(to) {
				down, over := m.up()
				select {
				case <-over:
				case <-time.After(time.Duration(rests.Int64N(int64(48 * time.Hour)))):
				}
				down()
				m.pass(time.Duration(rests.Int64N(int64(5 * time.Second))))
			}
			m.random = nil
			down, _ := m.up()
			m.pass(grace / 2)
			down()
			m.ranOnce(from, time.Now())
			rig.Check(t, len(m.crashes) == 4, "crashes: %v", m.crashes)
			t.Logf("seed %d: %d runs, %v", seed, len(m.accepted), m.crashes)
		})
	}
}

// A clock that is set back by hours, and ahead by less than [grace] less [lookEvery], makes nothing run twice at a time of
// the wall clock, or not at all.
func TestMonthOfClocksThatAreSet(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := newMachine(t, mustParse(t, strings.Replace(year, "every: 7h", "cron: 0 */7 * * *", 1)))
		random := rand.New(rand.NewPCG(16, 16))
		from := m.Now()
		down, _ := m.up()
		latest := from
		for m.Now().Before(from.AddDate(0, 1, 0)) {
			m.pass(time.Duration(random.Int64N(int64(10 * time.Hour))))
			if latest = later(latest, m.Now()); random.IntN(2) == 0 {
				m.setClock(-time.Duration(random.Int64N(int64(6 * time.Hour))))
			} else {
				m.setClock(time.Duration(random.Int64N(int64(grace - lookEvery))))
			}
			m.pass(lookEvery)
			latest = later(latest, m.Now())
		}
		down()
		m.ranOnce(from, later(latest, m.Now()))
	})
}

// An interval survives a clock that is set back by less than a day, whether its loop runs then or not: nothing runs
// twice within an interval, and nothing waits for longer than two from then on.
func TestIntervalsWhenTheClockIsSetBack(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := newMachine(t, mustParse(t, "schedules: {a: {every: 20m, prompt: x, missed: once}}"))
		random := rand.New(rand.NewPCG(35, 8))
		down, _ := m.up()
		for range 200 {
			m.pass(time.Hour + time.Duration(random.Int64N(int64(5*time.Hour))))
			back := -time.Duration(random.Int64N(int64(24 * time.Hour)))
			if random.IntN(4) > 0 {
				m.setClock(back)
				continue
			}
			down()
			m.setClock(back)
			down, _ = m.up()
		}
		down()
		slices.SortFunc(m.began, time.Time.Compare)
		for i := range m.began[1:] {
			gap := m.began[i+1].Sub(m.began[i])
			rig.Check(t, gap >= 20*time.Minute-lookEvery && gap <= 60*time.Minute+lookEvery, "run %d began %s after the one before", i+1, gap)
		}
		rig.Check(t, len(m.began) > 1000 && len(m.handed) == len(m.began), "%d runs under %d ids", len(m.began), len(m.handed))
	})
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// words are what the loop told, without the times.
func (m *machine) words() string {
	var all strings.Builder
	for _, action := range m.actions {
		all.WriteString(action.Name + " " + string(action.Word) + ", ")
	}
	return all.String()
}

// A run that is not over when the loop ends is handed over by the next one, before anything else.
func TestRunThatWasCutShort(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := newMachine(t, mustParse(t, "schedules: {a: {every: 1h, prompt: x, overlap: queue}}"))
		m.takes = 90 * time.Minute
		down, _ := m.up()
		m.pass(2*time.Hour + 10*time.Minute)
		down()
		rig.Equal(t, m.words(), "a began, a waits, ", "until it was stopped")
		m.actions = nil
		down, _ = m.up()
		m.pass(91 * time.Minute)
		down()
		rig.Equal(t, m.words(), "a began, a skipped, a over, a began, ", "from then on")
		rig.Check(t, m.handed["cron:a:2000-01-01T01:00:00Z"] == 2 && m.handed["cron:a:2000-01-01T02:00:00Z"] == 1 && len(m.handed) == 2, "%v", m.handed)
	})
}

// What cannot be written down does not run, until it can be.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := newMachine(t, mustParse(t, "schedules: {a: {every: 1h, prompt: x}}"))
		down, _ := m.up()
		m.pass(59 * time.Minute)
		m.with(func() { m.full = true })
		m.pass(time.Minute + 25*time.Second)
		rig.Check(t, len(m.handed) == 0 && m.words() == " failed,  failed,  failed, ", "%v, %s", m.handed, m.words())
		m.with(func() { m.full = false })
		m.pass(time.Minute)
		down()
		m.ranOnce(time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC), time.Now())
	})
}

// Conversations are reset at their time, also those that began after the loop.
func TestConversationsAreReset(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := newMachine(t, mustParse(t, "reset_at: \"04:00\"\nidle_reset: 12h\n"))
		down, _ := m.up()
		m.pass(3 * time.Hour)
		m.with(func() { m.talks = []Talk{{"telegram:1", time.Now()}} })
		m.pass(time.Hour)
		rig.Check(t, len(m.resets) == 1 && m.words() == "telegram:1 reset, ", "%v, %s", m.resets, m.words())
		m.pass(time.Hour)
		m.with(func() { m.talks = []Talk{{"telegram:1", time.Now()}} }) // at 05:00
		m.pass(12*time.Hour - time.Second)
		rig.Check(t, len(m.resets) == 1, "a moment before: %v", m.resets)
		m.pass(2 * time.Second)
		down()
		rig.Check(t, len(m.resets) == 2 && m.resets[1].Reason == "nothing was said for 12h0m0s", "%v", m.resets)
	})
}
