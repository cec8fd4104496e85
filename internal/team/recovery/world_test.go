package recovery

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/store/runs"
	"nbs-worker/internal/team/triage"
)

// world is a team without processes, of which each verb is counted.
type world struct {
	agents map[agent.Handle]*patient
	done   []string // "resume alpha", in order
	at     []time.Time
	noted  []string

	attempts map[agent.Handle]runs.Attempt
	locked   error

	cutLooks      bool // a look had a deadline
	calls, killAt int  // of the verbs and of what is written down; 0: never killed
}

// patient is how an agent is, and what repairs do to it.
type patient struct {
	triage.Assessment
	session   agent.SessionID
	resume    error          // with which a resume fails
	resumed   triage.Verdict // what it is after one; "": idle
	unload    error
	unloaded  triage.Verdict // what it is after one; "": idle
	reacts    bool           // to a ping
	next      time.Duration  // after which its launcher starts it again; 0: none does
	freshWith string         // the conversation in which it began anew
}

var errKilled = errors.New("killed")

// step reports whether the run is killed here: nothing that it does later happens.
func (w *world) step() bool {
	w.calls++
	return w.killAt > 0 && w.calls >= w.killAt
}

func (w *world) did(what string, p *Patient) {
	w.done = append(w.done, fmt.Sprintf("%s %s", what, p.Handle))
	w.at = append(w.at, time.Now())
}

func (w *world) Look(ctx context.Context, handles []agent.Handle) []Patient {
	_, cut := ctx.Deadline()
	w.cutLooks = w.cutLooks || cut
	all := make([]Patient, len(handles))
	for i, handle := range handles {
		all[i] = Patient{Assessment: w.agents[handle].Assessment, At: time.Now()}
		all[i].View.Record.Handle, all[i].View.Record.SessionID = handle, w.agents[handle].session
		if a := w.agents[handle]; a.next > 0 {
			all[i].View.Status = agent.Status{State: agent.Backoff, Detail: "code 1; starts again in " + a.next.String()}
			all[i].View.Record.Restarts.Next = all[i].At.Add(a.next)
		}
		if a := w.agents[handle]; a.reacts {
			a.Verdict, a.Level, a.Working = triage.Healthy, 0, true // at the next look
		}
	}
	return all
}

func (a *patient) becomes(verdict triage.Verdict) {
	a.Verdict = verdict
	if verdict == "" {
		a.Verdict = triage.Idle
	}
	switch a.Verdict {
	case triage.Idle, triage.Waiting:
		a.Level = 0
	case triage.Stressed:
		a.Level = triage.LevelCompact
	case triage.Dead:
		a.Level = triage.LevelResume
	default:
	}
}

func (w *world) Quiet(context.Context, agent.Handle) {}

func (w *world) Unload(_ context.Context, p *Patient) error {
	if w.step() {
		return errKilled
	}
	w.did("unload", p)
	if a := w.agents[p.Handle]; a.unload == nil {
		a.becomes(a.unloaded)
	}
	return w.after(w.agents[p.Handle].unload)
}

func (w *world) Resume(_ context.Context, p *Patient) error {
	if w.step() {
		return errKilled
	}
	w.did("resume", p)
	if a := w.agents[p.Handle]; a.resume == nil {
		a.becomes(a.resumed)
	}
	return w.after(w.agents[p.Handle].resume)
}

func (w *world) StartFresh(_ context.Context, p *Patient, attempt runs.Attempt) error {
	if w.step() {
		return errKilled
	}
	a := w.agents[p.Handle]
	if a.session == attempt.SessionID {
		w.did("replace", p)
		a.session, a.Verdict, a.Level = "new", triage.Dead, triage.LevelResume
	}
	if w.step() {
		return errKilled
	}
	w.did("fresh", p)
	a.freshWith = string(attempt.SessionID)
	a.becomes("")
	return w.after(nil)
}

// after is the end of a verb that has done its work.
func (w *world) after(err error) error {
	if w.step() {
		return errKilled
	}
	return err
}

func (w *world) Lock() (func(), error) { return func() {}, w.locked }

func (w *world) Attempt(handle agent.Handle) (*runs.Attempt, error) {
	if attempt, known := w.attempts[handle]; known {
		return &attempt, nil
	}
	return nil, nil
}

func (w *world) PutAttempt(handle agent.Handle, attempt runs.Attempt) error {
	if w.step() {
		return errKilled
	}
	w.attempts[handle] = attempt
	return nil
}

func (w *world) DropAttempt(handle agent.Handle) error {
	if w.step() {
		return errKilled
	}
	delete(w.attempts, handle)
	return nil
}

func (w *world) Note(_ context.Context, p *Patient, detail string) error {
	if w.step() {
		return errKilled
	}
	w.noted = append(w.noted, string(p.Handle)+" "+detail)
	return nil
}

func newWorld(agents ...*patient) *world {
	w := &world{agents: map[agent.Handle]*patient{}, attempts: map[agent.Handle]runs.Attempt{}}
	for _, a := range agents {
		if a.session == "" {
			a.session = "old"
		}
		w.agents[a.Handle] = a
	}
	return w
}

func is(handle agent.Handle, verdict triage.Verdict, level triage.Level) *patient {
	return &patient{Assessment: triage.Assessment{Handle: handle, Verdict: verdict, Level: level, Evidence: []string{"seen"}}}
}

func change(p *patient, by func(*patient)) *patient {
	by(p)
	return p
}

func (w *world) run(t *testing.T, o Options) Report {
	t.Helper()
	if o.Handles == nil {
		for handle := range w.agents {
			o.Handles = append(o.Handles, handle)
		}
		slices.Sort(o.Handles)
	}
	report, err := (&Ladder{Verbs: w, Memory: w}).Run(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	return report
}
