package recovery

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
	"nbs-worker/internal/platform/clock"
	"nbs-worker/internal/store/runs"
	"nbs-worker/internal/team/launch"
	"nbs-worker/internal/team/triage"
)

const (
	pingTime  = 15 * time.Second
	pingEvery = 3 * time.Second
)

// run is the state of one run of a ladder.
type run struct {
	*Ladder
	Options
	failures int       // in a row
	started  time.Time // the last start; zero: no start yet
	stopped  string    // why no more is begun
}

// treat repairs one agent, level by level, and returns why it stopped if the agent is not well.
func (r *run) treat(ctx context.Context, c *Case) (left string) {
	tried := map[triage.Verdict]triage.Level{} // a level that did not help is not tried again for the same verdict
	for {
		if r.stopped != "" {
			return c.notBegun(r.stopped)
		}
		if ctx.Err() != nil {
			return c.notBegun("the run was interrupted")
		}
		r.Quiet(ctx, c.Handle)
		p := &r.Look(ctx, []agent.Handle{c.Handle})[0]
		level, left := r.next(p, &r.Options, tried[p.Verdict])
		if left != "" || p.Verdict.IsWell() {
			return left
		}
		if level >= triage.LevelResume && r.pace(ctx) {
			continue // time has passed, and the agent may have changed
		}
		tried[p.Verdict] = level
		if left := r.step(ctx, c, p, level); left != "" {
			return left
		}
	}
}

// notBegun returns the text that says why nothing, or nothing more, is begun for an agent.
func (c *Case) notBegun(why string) string {
	if len(c.Steps) > 0 {
		return "nothing more is begun: " + why
	}
	return "not begun: " + why
}

// pace keeps starts apart, and reports whether it had to wait.
func (r *run) pace(ctx context.Context) (waited bool) {
	rest := r.Stagger - time.Since(r.started)
	if r.started.IsZero() || rest <= 0 {
		return false
	}
	_ = clock.Sleep(ctx, rest) // the caller checks the context
	return true
}

// step takes one step, recorded before and after, and returns why no other may follow.
func (r *run) step(ctx context.Context, c *Case, p *Patient, level triage.Level) (left string) {
	attempt, err := r.begin(ctx, p, level)
	if err != nil {
		return "not begun, because that could not be recorded: " + err.Error()
	}
	begun := time.Now()
	c.Steps = append(c.Steps, Step{Level: level, Why: attempt.Why})
	done := &c.Steps[len(c.Steps)-1]
	r.tell(c)
	failure := r.do(ctx, p, level, attempt)
	if level >= triage.LevelResume {
		r.started = time.Now()
	}
	ctx = context.WithoutCancel(ctx) // the end of an interrupted step is recorded too
	now := r.Look(ctx, []agent.Handle{c.Handle})[0]
	done.close(failure, p, &now)
	done.Took = time.Since(begun)
	unwritten := r.end(ctx, attempt, done, failure, &now)
	r.tell(c)
	r.count(level, failure, p, &now)
	switch fail.KindOf(failure) {
	case fail.Conflict: // another command holds it
		return failure.Error()
	case fail.Held:
		c.Held = true
		return "it needs a person: " + failure.Error()
	}
	if unwritten != nil {
		return "nothing more is begun, because the result could not be recorded: " + unwritten.Error()
	}
	return ""
}

// close records the outcome of a step. The step helped if it did not fail and the verdict is another known one.
func (s *Step) close(failure error, before, now *Patient) {
	s.Helped = failure == nil && now.Verdict != before.Verdict && now.Verdict != triage.Unknown
	s.Result = now.words()
	if failure != nil {
		s.Result = failure.Error()
	}
}

// words returns the verdict with its evidence.
func (p *Patient) words() string { return string(p.Verdict) + ": " + strings.Join(p.Evidence, "; ") }

// begin records that a step is about to be taken. It continues an interrupted attempt at a new conversation.
func (r *run) begin(ctx context.Context, p *Patient, level triage.Level) (runs.Attempt, error) {
	attempt := runs.Attempt{
		SessionID: p.View.Record.SessionID, Level: int(level), Begun: p.seen(),
		Why: p.words(),
	}
	if last := r.cutShort(p); last != nil {
		attempt = *last
	}
	if err := r.PutAttempt(p.Handle, attempt); err != nil {
		return attempt, err
	}
	return attempt, r.Note(ctx, p, fmt.Sprintf("level %d, %s: begun, because it is %s", level, level, attempt.Why))
}

// end records the result of a step.
func (r *run) end(ctx context.Context, attempt runs.Attempt, done *Step, failure error, now *Patient) error {
	attempt.Ended, attempt.Floor = now.seen(), errors.Is(failure, errFloor)
	became := "it helped"
	if !done.Helped {
		became, attempt.Failure = "it did not help", done.Result
	}
	return errors.Join(
		r.PutAttempt(now.Handle, attempt),
		r.Note(ctx, now, fmt.Sprintf("level %d, %s: %s: %s", done.Level, done.Level, became, done.Result)),
	)
}

func (r *run) tell(c *Case) {
	if r.Progress != nil {
		r.Progress(c)
	}
}

func (r *run) do(ctx context.Context, p *Patient, level triage.Level, attempt runs.Attempt) error {
	switch level {
	case triage.LevelPing:
		return r.ping(ctx, p)
	case triage.LevelCompact:
		return r.Unload(ctx, p)
	case triage.LevelResume:
		return r.Resume(ctx, p)
	default:
		return r.StartFresh(ctx, p, attempt)
	}
}

// ping checks whether an agent reacts: whether its verdict changes within pingTime. It lets its last look end: a tmux
// server whose answer is cut off counts as silent, and is not asked by the step that follows.
func (r *run) ping(ctx context.Context, p *Patient) error {
	limited, stop := context.WithTimeout(ctx, pingTime)
	defer stop()
	for limited.Err() == nil {
		_ = clock.Sleep(limited, pingEvery)
		if now := r.Look(ctx, []agent.Handle{p.Handle})[0]; now.Verdict != p.Verdict && now.Verdict != triage.Unknown {
			return nil
		}
	}
	if ctx.Err() != nil {
		return fail.Errorf(fail.Interrupted, "it was not waited for: the run was interrupted")
	}
	return fail.Errorf(fail.TimedOut, "it did not react within %s", pingTime)
}

// count counts failed starts in a row, and ends the run if the next start would fail too. A conflict with another
// command is no failure, and neither is a start that waits for a person.
func (r *run) count(level triage.Level, err error, before, now *Patient) {
	switch {
	case errors.Is(err, launch.ErrNotLoggedIn) || now.failedLogin(before.At):
		r.stopped = "claude is not logged in, after the start of " + string(now.Handle)
	case level < triage.LevelResume, fail.KindOf(err) == fail.Conflict, fail.KindOf(err) == fail.Held:
	case err == nil:
		r.failures = 0
	default:
		if r.failures++; r.failures == r.GiveUp {
			r.stopped = human.Count(r.failures, "start") + " failed in a row"
		}
	}
}
