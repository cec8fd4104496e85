package runbook

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"nbs-worker/internal/fail"
	"nbs-worker/internal/store/runs"
)

// fakeVerbs end with the codes that are given by command, else with 0.
type fakeVerbs struct {
	codes map[string]int
	ran   []string
	kill  context.CancelFunc // at the command "stop"
}

func (v *fakeVerbs) Check(args []string) error {
	if args[0] == "nonsense" {
		return errors.New("unknown command")
	}
	return nil
}

func (v *fakeVerbs) Run(_ context.Context, args []string) Outcome {
	command := strings.Join(args, " ")
	v.ran = append(v.ran, command)
	if command == "stop" && v.kill != nil {
		v.kill()
	}
	return Outcome{Code: v.codes[command]}
}

// fakeLog keeps what a ledger would, and fails when it is full.
type fakeLog struct {
	last  *runs.Run
	notes []string
	full  bool
}

func (l *fakeLog) Begin() (*runs.Run, func(), error) { return l.last, func() {}, nil }

func (l *fakeLog) Note(_ context.Context, run runs.Run) error {
	if l.full {
		return errors.New("no space left on device")
	}
	l.last = &run
	l.notes = append(l.notes, run.Step+" "+string(run.State))
	return nil
}

func (l *fakeLog) Finish(_ context.Context, end string) error {
	l.last = nil
	l.notes = append(l.notes, end)
	return nil
}

// stage is a page of four steps: look, whose outcome a person judges; stop, which is confirmed;
// bring, of two commands; and prove.
type stage struct {
	verbs  fakeVerbs
	log    fakeLog
	answer func(question string) bool // nil: there is nobody
	asked  []string
}

const stagePage = "# Stage\n\n## A\n\n```sh {step=look expect=\"0 7\" ask=\"Is it so?\"}\nnbs-worker triage\n```\n" +
	"```sh {step=stop confirm=\"End all?\"}\nnbs-worker stop\n```\n" +
	"```sh {step=bring}\nnbs-worker resume a\nnbs-worker resume b\n```\n" +
	"```sh {step=prove check}\nnbs-worker list\n```\n"

func newStage() *stage {
	return &stage{verbs: fakeVerbs{codes: map[string]int{}}, answer: func(string) bool { return true }}
}

func (s *stage) runPage(ctx context.Context, t *testing.T, text string, o Options) ([]Done, error) {
	t.Helper()
	p, err := Parse("stage", text)
	if err != nil {
		t.Fatal(err)
	}
	plan, err := p.Plan(nil)
	if err != nil {
		t.Fatal(err)
	}
	s.verbs.ran, s.log.notes, s.asked = nil, nil, nil
	r := Runner{
		Verbs: &s.verbs, Log: &s.log, Begins: func(Planned, int, int) {},
		GoOn: func(step string) string { return "nbs-worker runbook run stage --from " + step },
	}
	if s.answer != nil {
		r.Ask = func(question string) bool {
			s.asked = append(s.asked, question)
			return s.answer(question)
		}
	}
	return r.Run(ctx, plan, o)
}

func (s *stage) run(t *testing.T, o Options) ([]Done, error) {
	t.Helper()
	return s.runPage(t.Context(), t, stagePage, o)
}

func wantFailure(t *testing.T, err error, kind fail.Kind, text, hint string) {
	t.Helper()
	if err == nil || fail.KindOf(err) != kind || !strings.Contains(err.Error(), text) || !strings.Contains(strings.Join(fail.HintsOf(err), "\n"), hint) {
		t.Errorf("%v (%d), hints %q; want %s (%d), hint %s", err, fail.KindOf(err), fail.HintsOf(err), text, kind, hint)
	}
}

func wantLines(t *testing.T, what string, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s: %q; want %q", what, got, want)
	}
}

func TestRunDoesAllInOrder(t *testing.T) {
	t.Parallel()
	s := newStage()
	s.verbs.codes["triage"] = 7
	done, err := s.run(t, Options{})
	if err != nil || len(done) != 4 || done[0].Outcomes[0].Code != 7 {
		t.Errorf("%+v, %v", done, err)
	}
	wantLines(t, "ran", s.verbs.ran, "triage", "stop", "resume a", "resume b", "list")
	wantLines(t, "asked", s.asked, "Is it so?", "End all?")
	wantLines(t, "noted", s.log.notes, "look at work", "look done", "look asks", "stop at work", "stop done", "bring at work", "bring done", "prove at work", "prove done", "came to its end")
}

// --yes confirms, and does not judge. Where nobody can be asked, nothing is begun that has to be
// confirmed.
func TestYesConfirmsOnly(t *testing.T) {
	t.Parallel()
	s := newStage()
	s.answer = nil
	for range 2 {
		_, err := s.run(t, Options{Yes: true})
		wantFailure(t, err, fail.Held, "waits for a decision of yours after step look: Is it so?", "nbs-worker runbook run stage --from stop")
	}
	wantLines(t, "ran the second time", s.verbs.ran)
	_, err := s.run(t, Options{From: "stop"})
	wantFailure(t, err, fail.Held, "step stop is to be confirmed, and there is no terminal: End all?", "--from stop --yes")
	if _, err = s.run(t, Options{From: "stop", Yes: true}); err != nil {
		t.Error(err)
	}
	wantLines(t, "ran", s.verbs.ran, "stop", "resume a", "resume b", "list")
	if s.log.last != nil {
		t.Errorf("%+v", s.log.last)
	}
}

// A page may be changed while a person decides: what asked may do so no more, or be the last step.
func TestPageThatAsksNoMore(t *testing.T) {
	t.Parallel()
	s := newStage()
	s.log.last = &runs.Run{Step: "look", State: runs.Asks}
	const look = "# Stage\n\n```sh {step=look}\nnbs-worker triage\n```\n"
	_, err := s.runPage(t.Context(), t, look+"```sh {step=stop}\nnbs-worker stop\n```\n", Options{})
	wantFailure(t, err, fail.Conflict, "the last run ended after step look", "--from stop")
	if _, err := s.runPage(t.Context(), t, look, Options{}); err != nil {
		t.Error(err)
	}
	wantLines(t, "ran", s.verbs.ran, "triage")
}

// A no ends the run, and the next one begins anew.
func TestNoOfAPersonEndsTheRun(t *testing.T) {
	t.Parallel()
	s := newStage()
	s.answer = func(question string) bool { return question == "Is it so?" }
	_, err := s.run(t, Options{})
	wantFailure(t, err, fail.Interrupted, "ended by your answer before step stop", "")
	s.answer = func(string) bool { return false }
	_, err = s.run(t, Options{})
	wantFailure(t, err, fail.Interrupted, "ended by your answer after step look", "--from stop")
	wantLines(t, "ran", s.verbs.ran, "triage")
	wantLines(t, "noted", s.log.notes, "look at work", "look done", "look asks", "ended by your answer after step look")
}

// A step that fails ends the run with its meaning; the run is not begun again by mistake.
func TestFailedStep(t *testing.T) {
	t.Parallel()
	s := newStage()
	s.verbs.codes["resume a"] = 5
	done, err := s.run(t, Options{})
	wantFailure(t, err, fail.Conflict, "step bring failed: line 12 ended with 5", "--from bring")
	if last := done[len(done)-1]; last.State != runs.Failed || len(last.Outcomes) != 1 {
		t.Errorf("%+v", last)
	}
	_, err = s.run(t, Options{})
	wantFailure(t, err, fail.Conflict, "the last run failed in step bring, with 5", "--from look")
	wantLines(t, "ran", s.verbs.ran)
	s.verbs.codes = map[string]int{"list": 99}
	_, err = s.run(t, Options{From: "bring"})
	wantFailure(t, err, fail.Failed, "the check prove failed: line 16 ended with 99", "--from prove")
	wantLines(t, "ran", s.verbs.ran, "resume a", "resume b", "list")
}

// Killed at any moment, the next run says where, and how to go on.
func TestRunThatWasKilled(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 2, 20, 11, 44, 7, 0, time.UTC)
	for _, c := range []struct {
		step, state, text, hint string
	}{
		{"bring", "at work", "interrupted in step bring, 2026-02-20 11:44:07Z", "--from bring"},
		{"bring", "done", "ended after step bring", "--from prove"},
		{"look", "asks", "after step look: Is it so?", "--from stop"},
		{"gone", "done", "interrupted in step gone", "--from look"},
	} {
		s := newStage()
		s.log.last = &runs.Run{Step: c.step, State: runs.State(c.state), At: at}
		kind := fail.Conflict
		if c.state == "asks" {
			kind = fail.Held
		}
		_, err := s.run(t, Options{})
		wantFailure(t, err, kind, c.text, c.hint)
		wantLines(t, "ran", s.verbs.ran)
	}
	s := newStage()
	s.log.last = &runs.Run{Step: "prove", State: runs.Done, At: at}
	if _, err := s.run(t, Options{}); err != nil {
		t.Errorf("after the last step: %v", err)
	}
}

func TestInterruptedRun(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	s := newStage()
	s.verbs.kill = cancel
	_, err := s.runPage(ctx, t, stagePage, Options{})
	wantFailure(t, err, fail.Interrupted, "interrupted in step stop", "--from stop")
	wantLines(t, "noted", s.log.notes, "look at work", "look done", "look asks", "stop at work")
}

// Nothing is done that cannot be written down, and nothing of a page that cannot be run whole.
func TestNothingIsBegun(t *testing.T) {
	t.Parallel()
	s := newStage()
	s.log.full = true
	_, err := s.run(t, Options{})
	wantFailure(t, err, fail.Failed, "no space left", "")
	wantLines(t, "ran", s.verbs.ran)
	s = newStage()
	_, err = s.runPage(t.Context(), t, stagePage+"```sh {step=x}\nnbs-worker nonsense\n```\n", Options{})
	wantFailure(t, err, fail.BadInput, "line 19: unknown command", "")
	wantLines(t, "ran", s.verbs.ran)
	_, err = s.run(t, Options{From: "nowhere"})
	wantFailure(t, err, fail.BadInput, `no step "nowhere"; the steps are look, stop, bring, prove`, "")
}
