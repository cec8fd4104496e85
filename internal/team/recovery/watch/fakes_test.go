package watch

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/store/watching"
	"nbs-worker/internal/team/inspect"
	"nbs-worker/internal/team/recovery"
	"nbs-worker/internal/team/subscribe"
	"nbs-worker/internal/team/triage"
)

// world is a team, a desk, signs and a person, in memory.
type world struct {
	t       *testing.T
	mu      sync.Mutex
	agents  map[agent.Handle]*recovery.Patient
	signs   chan subscribe.Sign
	pause   *watching.Pause
	memory  State
	looks   [][]agent.Handle
	listed  int
	repairs []string // "alpha 3"
	notes   int
	said    []Action
	told    []Notice
	// What becomes of a repair, and of telling.
	mend    func(handle agent.Handle) error
	telling error
	slow    time.Duration // of telling
	disk    error         // of all that is written
}

// patients of each kind.
func idle() recovery.Patient { return judged(triage.Idle, triage.LevelAssess, agent.Idle) }
func busy() recovery.Patient {
	p := judged(triage.Healthy, triage.LevelAssess, agent.Busy)
	p.Working = true
	return p
}
func crashed() recovery.Patient {
	p := judged(triage.Dead, triage.LevelResume, agent.Dead)
	p.View.Status.Cause = agent.Crashed
	return p
}
func asking() recovery.Patient {
	p := judged(triage.Waiting, triage.LevelAssess, agent.Waiting)
	p.View.Status.Detail = "permission prompt"
	return p
}
func held() recovery.Patient { return judged(triage.Held, triage.LevelResume, agent.Dead) }
func limited(in time.Duration) recovery.Patient {
	p := held()
	p.Until = time.Now().Add(in)
	return p
}
func filled(left int) recovery.Patient {
	p := judged(triage.Stressed, triage.LevelCompact, agent.Idle)
	p.View.Context = &agent.ContextUse{UsedPercent: 100 - left}
	return p
}

func judged(verdict triage.Verdict, level triage.Level, state agent.State) recovery.Patient {
	p := recovery.Patient{Assessment: triage.Assessment{Verdict: verdict, Level: level, Evidence: []string{"as it is"}}}
	p.View = inspect.View{}
	p.View.Status.State = state
	p.View.Record.Process = &agent.Process{Invocation: agent.NewInvocation()}
	return p
}

// watched runs a test in virtual time, with a watch over the agents.
func watched(t *testing.T, policy func(*Policy), agents map[agent.Handle]recovery.Patient, test func(w *world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := &world{t: t, agents: map[agent.Handle]*recovery.Patient{}, signs: make(chan subscribe.Sign)}
		for handle, patient := range agents {
			w.agents[handle] = &patient
		}
		stop := w.begin(policy)
		w.after(0)
		test(w)
		stop()
	})
}

// begin starts a watch, and returns what ends it.
func (w *world) begin(change func(*Policy)) (stop func()) {
	policy := Default()
	policy.Notify = &Notify{Of: Kinds, PerHour: 30}
	if change != nil {
		change(&policy)
	}
	ctx, cancel := context.WithCancel(w.t.Context())
	ended := make(chan error)
	go func() {
		v := Watch{Policy: policy, Team: w, Keeper: w, Signs: w, Teller: w, Say: w.say}
		ended <- v.Run(ctx)
	}()
	return func() {
		cancel()
		if err := <-ended; fail.KindOf(err) != fail.Interrupted {
			w.t.Errorf("it ended with %v", err)
		}
	}
}

// becomes changes an agent, and lets what follows from it happen.
func (w *world) becomes(handle agent.Handle, patient recovery.Patient) {
	w.mu.Lock()
	w.agents[handle] = &patient
	w.mu.Unlock()
	w.sign(handle)
}

func (w *world) sign(handle agent.Handle) {
	w.signs <- subscribe.Sign{Handle: handle}
	w.after(2 * settle)
}

// after lets time pass. What the test has read was before that, and what the watch does is before
// what the test reads next.
func (w *world) after(d time.Duration) {
	w.locked(func() {})
	time.Sleep(d) //nolint:forbidigo // virtual time passes by it
	synctest.Wait()
	w.locked(func() {})
}

func (w *world) locked(do func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	do()
}

func (w *world) words() []Word {
	words := []Word{}
	for _, a := range w.said {
		words = append(words, a.Word)
	}
	return words
}

func (w *world) kinds() []Kind {
	kinds := []Kind{}
	for _, n := range w.told {
		kinds = append(kinds, n.Kind)
	}
	return kinds
}

func (w *world) mustTell(want ...Kind) {
	w.t.Helper()
	if got := w.kinds(); !slices.Equal(got, want) {
		w.t.Errorf("told %v; want %v", got, want)
	}
}

func (w *world) mustSay(want ...Word) {
	w.t.Helper()
	if got := w.words(); !slices.Equal(got, want) {
		w.t.Errorf("said %v; want %v", got, want)
	}
}

func (w *world) mustRepair(want ...string) {
	w.t.Helper()
	if !slices.Equal(w.repairs, want) {
		w.t.Errorf("repaired %v; want %v", w.repairs, want)
	}
}

// What the watch sees and does.

func (w *world) Handles() ([]agent.Handle, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.listed++
	return slices.Sorted(maps.Keys(w.agents)), nil
}

func (w *world) Look(_ context.Context, handles []agent.Handle) []recovery.Patient {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.looks = append(w.looks, handles)
	var patients []recovery.Patient
	for _, handle := range handles {
		p := w.agents[handle]
		if p == nil {
			gone := judged(triage.Unknown, triage.LevelAssess, agent.Unknown)
			gone.Handle = handle
			patients = append(patients, gone)
			continue
		}
		p.Handle, p.View.Record.Handle = handle, handle
		patients = append(patients, *p)
	}
	return patients
}

func (w *world) Repair(_ context.Context, handle agent.Handle) (string, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.repairs = append(w.repairs, fmt.Sprint(handle, " ", int(w.agents[handle].Level)))
	if w.notes < len(w.repairs) || len(w.memory.Repairs) == 0 {
		w.t.Error("a repair was begun that is not written down")
	}
	if w.mend != nil {
		return "", w.mend(handle)
	}
	w.agents[handle] = new(idle())
	return "resumed", nil
}

func (w *world) Paused() (pause *watching.Pause, err error) {
	w.locked(func() { pause = w.pause })
	return pause, nil
}

func (w *world) LoadState() (m State, err error) {
	w.locked(func() { m = w.memory })
	return m, nil
}

func (w *world) SaveState(m State) error {
	m.Pending, m.Repairs = slices.Clone(m.Pending), slices.Clone(m.Repairs)
	w.locked(func() {
		if w.disk == nil {
			w.memory = m
		}
	})
	return w.disk
}

func (w *world) Note(context.Context, agent.Handle, string) error {
	w.locked(func() { w.notes++ })
	return w.disk
}

func (w *world) Tell(_ context.Context, n Notice) error {
	time.Sleep(w.slow) //nolint:forbidigo // virtual time passes by it
	w.mu.Lock()
	defer w.mu.Unlock()
	w.told = append(w.told, n)
	return w.telling
}

func (w *world) say(d Action) { w.locked(func() { w.said = append(w.said, d) }) }

func (w *world) C() <-chan subscribe.Sign { return w.signs }
func (w *world) Err() error               { return nil }
