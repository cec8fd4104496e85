package watch

import (
	"context"
	"strings"
	"syscall"
	"testing"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/sim/rig"
	"nbs-worker/internal/store/runs"
	"nbs-worker/internal/team/observe"
	"nbs-worker/internal/team/recovery"
	"nbs-worker/internal/team/supervisor"
)

// ward is one agent, which a resume brings back to be as it was foreseen, and which nothing else may touch.
type ward struct {
	*testing.T
	is, resumed recovery.Patient
	resumes     int
	disk        error // of what is remembered
	notes       int   // in the journal
}

func (w *ward) Quiet(context.Context, agent.Handle) {}

func (w *ward) Look(_ context.Context, handles []agent.Handle) []recovery.Patient {
	w.is.Handle, w.is.View.Record.Handle = handles[0], handles[0]
	return []recovery.Patient{w.is}
}

func (w *ward) Resume(context.Context, *recovery.Patient) error {
	w.is = w.resumed
	w.resumes++
	return nil
}

func (w *ward) Unload(_ context.Context, p *recovery.Patient) error {
	w.Errorf("it is compacted: %v", p.Verdict)
	return nil
}

func (w *ward) StartFresh(context.Context, *recovery.Patient, runs.Attempt) error {
	w.Error("it lost its conversation")
	return nil
}

func (w *ward) Lock() (func(), error)                                 { return func() {}, nil }
func (w *ward) Attempt(agent.Handle) (*runs.Attempt, error)           { return nil, nil }
func (w *ward) PutAttempt(agent.Handle, runs.Attempt) error           { return w.disk }
func (w *ward) DropAttempt(agent.Handle) error                        { return nil }
func (w *ward) Note(context.Context, *recovery.Patient, string) error { w.notes++; return nil }

func (w *ward) repair(policy Policy) error {
	p := Project{Supervisor: supervisor.New(&observe.Project{}, nil), policy: &policy, ladder: &recovery.Ladder{Verbs: w, Memory: w}}
	_, err := p.Repair(w.Context(), "alpha")
	return err
}

// A repair ends where the policy asks for no more, also where the ladder would go on.
func TestRepairGoesAsFarAsThePolicy(t *testing.T) {
	t.Parallel()
	never := Default()
	never.Compact = ""
	for left, policy := range map[int]Policy{20: Default(), 5: never} {
		w := &ward{T: t, is: crashed(), resumed: filled(left)}
		rig.Must(t, w.repair(policy))
		rig.Equal(t, w.resumes, 1, "resumes")
	}
}

// Who has ended it since it was judged is a person.
func TestAgentThatIsLeftBeforeItsRepair(t *testing.T) {
	t.Parallel()
	w := &ward{T: t, is: crashed(), resumed: idle()}
	w.is.View.Status.Cause = agent.Exited
	rig.Equal(t, fail.KindOf(w.repair(Default())), fail.Conflict, "kind")
	rig.Equal(t, w.resumes, 0, "resumes")
}

// The journal does not say that a repair was begun which could not be remembered.
func TestRepairThatCannotBeWrittenDown(t *testing.T) {
	t.Parallel()
	w := &ward{T: t, is: crashed(), resumed: idle(), disk: syscall.ENOSPC}
	err := w.repair(Default())
	rig.Check(t, fail.KindOf(err) == fail.Conflict && errorSays(err, "no space left on device"), "%v", err)
	rig.Equal(t, w.resumes+w.notes, 0, "resumes and notes")
}

// Of one that is well again before its repair is said that it is.
func TestAgentThatIsWellBeforeItsRepair(t *testing.T) {
	t.Parallel()
	w := &ward{T: t, is: busy()}
	err := w.repair(Default())
	rig.Check(t, fail.KindOf(err) == fail.Conflict && errorSays(err, "nothing was done: it is healthy by itself"), "%v", err)
}

func errorSays(err error, words string) bool { return strings.Contains(err.Error(), words) }
