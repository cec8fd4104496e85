package attention_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/platform/tmux"
	"nbs-worker/internal/sim/rig"
	"nbs-worker/internal/team/attention"
	"nbs-worker/internal/team/inspect"
	"nbs-worker/internal/team/observe"
)

var now = time.Date(2026, 2, 20, 12, 0, 0, 0, time.UTC)

func ago(d time.Duration) time.Time { return now.Add(-d) }

func known(state agent.State, change func(k *attention.Known)) *attention.Known {
	k := &attention.Known{Sight: &observe.Sight{}, Bands: agent.DefaultBands, Now: now}
	k.Status = agent.Status{State: state, Source: agent.FromRegistry, SamePID: state != agent.Dead, Age: new(time.Minute)}
	k.Record.Handle, k.Record.Desired, k.Record.Started = "alpha", agent.DesiredRunning, ago(time.Hour)
	if change != nil {
		change(k)
	}
	return k
}

func left(percent int, at time.Time) *agent.ContextUse {
	return &agent.ContextUse{UsedPercent: 100 - percent, At: at}
}

func failed(class string) func(k *attention.Known) {
	return func(k *attention.Known) {
		k.Report.Failure = &agent.Failure{Class: class, At: ago(2 * time.Minute)}
	}
}

// full is an agent at a usage limit that its status line says to be used up, and to reset some time from now.
func full(resets time.Duration) func(k *attention.Known) {
	return func(k *attention.Known) {
		failed("rate_limit")(k)
		k.Status.Detail = "rate_limit"
		k.Report.Limits = &agent.Limits{FiveHour: &agent.Limit{UsedPercent: 100, ResetsAt: now.Add(resets)}}
	}
}

func TestWhoNeedsAPersonAndWhy(t *testing.T) {
	t.Parallel()
	for what, c := range map[string]struct {
		known *attention.Known
		want  *attention.Need
	}{
		"works":  {known(agent.Busy, nil), nil},
		"is new": {known(agent.Idle, nil), nil},
		"asks": {known(agent.Waiting, func(k *attention.Known) { k.Asked = &agent.Asked{Text: "Bash\nls", Choices: []string{"Yes", "No"}} }),
			&attention.Need{Reason: attention.Waits, Since: ago(time.Minute), What: "Bash · ls [Yes / No]"}},
		"asks, as its screen shows": {known(agent.Waiting, func(k *attention.Known) {
			k.Status.Source, k.Status.Age, k.Status.Detail = agent.FromScreen, new(time.Duration), "trust dialog"
		}), &attention.Need{Reason: attention.Waits, Since: ago(time.Hour), What: "trust dialog"}},
		"is not logged in": {known(agent.TurnFailed, failed(inspect.ClassAuthentication)), &attention.Need{Reason: attention.Waits, Since: ago(2 * time.Minute), What: "a login"}},
		"crashed":          {known(agent.Dead, func(k *attention.Known) { k.Status.Cause = agent.Crashed }), &attention.Need{Reason: attention.Down, Since: ago(time.Minute), What: "crashed"}},
		"is held": {known(agent.Dead, func(k *attention.Known) {
			k.Status.Cause = agent.Crashed
			k.Record.Restarts.Hold = &agent.Hold{Reason: "it crashed 5 times", Since: ago(time.Second)}
		}), &attention.Need{Reason: attention.Down, Since: ago(time.Second), What: "crashed; held: it crashed 5 times"}},
		"was stopped":            {known(agent.Dead, func(k *attention.Known) { k.Record.Desired, k.Status.Cause = agent.DesiredStopped, agent.Stopped }), nil},
		"starts again by itself": {known(agent.Backoff, func(k *attention.Known) { k.Status.Cause = agent.Crashed }), nil},
		"may not be started":     {known(agent.Idle, func(k *attention.Known) { k.NotAllowed = fail.Errorf(fail.Held, "no seal") }), &attention.Need{Reason: attention.Down, What: "no seal"}},
		"could not be checked":   {known(agent.Idle, func(k *attention.Known) { k.NotAllowed = errors.New("disk") }), nil},
		"has spent its budget": {known(agent.Idle, func(k *attention.Known) {
			k.Spending = &agent.Spending{Budget: "5.00/day", USD: 5.5, Ends: now.Add(12 * time.Hour), Last: ago(time.Minute)}
		}), &attention.Need{Reason: attention.Short, Since: ago(time.Minute), What: "its budget is spent, $5.50 of $5.00 a day; the next day begins at 00:00"}},
		"has not spent its budget":        {known(agent.Idle, func(k *attention.Known) { k.Spending = &agent.Spending{Budget: "5.00/day", USD: 4.99} }), nil},
		"is at a limit":                   {known(agent.TurnFailed, failed("rate_limit")), &attention.Need{Reason: attention.Short, Since: ago(2 * time.Minute), What: "a usage limit"}},
		"is at a limit that resets later": {known(agent.TurnFailed, full(time.Minute)), &attention.Need{Reason: attention.Short, Since: ago(2 * time.Minute), What: "a usage limit"}},
		"is at a limit that has reset":    {known(agent.TurnFailed, full(-time.Second)), &attention.Need{Reason: attention.Done, Since: ago(2 * time.Minute), What: "failed: rate_limit"}},
		"is at a limit that has reset by Claude's words": {known(agent.TurnFailed, func(k *attention.Known) {
			k.Now = now.Add(2 * time.Hour)
			k.Report.Failure = &agent.Failure{Class: "rate_limit", At: now, Text: "You've hit your session limit · resets 1:30pm (UTC)"}
		}), &attention.Need{Reason: attention.Done, Since: now}},
		"is full":  {known(agent.Busy, func(k *attention.Known) { k.Context = left(9, ago(time.Second)) }), &attention.Need{Reason: attention.Short, Since: ago(time.Second), What: "9% of its context is left"}},
		"is low":   {known(agent.Busy, func(k *attention.Known) { k.Context = left(20, now) }), nil},
		"was full": {known(agent.Dead, func(k *attention.Known) { k.Record.Desired, k.Context = agent.DesiredStopped, left(5, now) }), nil},
		"is done":  {known(agent.Idle, func(k *attention.Known) { k.Report.Done = ago(time.Minute) }), &attention.Need{Reason: attention.Done, Since: ago(time.Minute)}},
		"is done, with tasks left": {known(agent.Idle, func(k *attention.Known) { k.Report.Done, k.Status.Detail = ago(time.Minute), "1 background task" }),
			&attention.Need{Reason: attention.Done, Since: ago(time.Minute), What: "idle: 1 background task"}},
		"works on after a turn": {known(agent.Busy, func(k *attention.Known) { k.Report.Done = ago(time.Minute) }), nil},
	} {
		rig.Same(t, what, c.want, attention.Of(c.known))
	}
}

// A look counts for what was there at that time. What waits stays, and is marked; an end is shown no more.
func TestALookEndsWhatItHasSeen(t *testing.T) {
	t.Parallel()
	done := func(seen time.Duration) *attention.Need {
		return attention.Of(known(agent.Idle, func(k *attention.Known) { k.Report.Done, k.Seen = ago(time.Minute), ago(seen) }))
	}
	rig.Check(t, done(2*time.Minute) != nil, "a look during the turn hides its end")
	rig.Check(t, done(time.Minute) == nil && done(time.Second) == nil, "an end is shown after a look")
	asks := func(seen time.Duration) bool {
		return attention.Of(known(agent.Waiting, func(k *attention.Known) { k.Seen = ago(seen) })).Seen
	}
	rig.Check(t, !asks(2*time.Minute) && asks(time.Second), "a question is marked otherwise")
	crashed := attention.Of(known(agent.Dead, func(k *attention.Known) { k.Status.Cause, k.Status.Age, k.Seen = agent.LostReboot, nil, now }))
	rig.Check(t, crashed.Seen, "a look at what has ended at an unknown time does not count")
	full := func(state agent.State) *attention.Need {
		return attention.Of(known(state, func(k *attention.Known) { k.Context, k.Seen = left(5, now), ago(time.Minute) }))
	}
	rig.Check(t, full(agent.Busy) == nil, "an agent at work is shown again with each reply")
	rig.Check(t, full(agent.Idle) != nil, "it is not shown again at its prompt")
}

// A person who sits at the terminal sees what happens there. A terminal that was left alone shows it to no person.
func TestAPersonAtTheTerminalSees(t *testing.T) {
	t.Parallel()
	for what, c := range map[string]struct {
		pane tmux.Pane
		want bool // it needs a person
	}{
		"pressed a key after it":               {tmux.Pane{Active: true, Touched: ago(30 * time.Second)}, false},
		"pressed a key before it, and is here": {tmux.Pane{Active: true, Attached: 1, Touched: ago(2 * time.Minute)}, false},
		"pressed a key before it, and left":    {tmux.Pane{Active: true, Touched: ago(2 * time.Minute)}, true},
		"left the terminal alone long before":  {tmux.Pane{Active: true, Attached: 1, Touched: ago(time.Hour)}, true},
		"looks at another window":              {tmux.Pane{Attached: 1, Touched: ago(time.Second)}, true},
	} {
		need := attention.Of(known(agent.Idle, func(k *attention.Known) { k.Report.Done, k.Pane = ago(time.Minute), &c.pane }))
		rig.Check(t, (need != nil) == c.want, "a person %s: %+v", what, need)
	}
}

func TestQueueBeginsWithTheLongestWait(t *testing.T) {
	t.Parallel()
	judge := &attention.Judge{Bands: agent.DefaultBands, Now: now, Seen: map[string]time.Time{"b": now}}
	row := func(handle agent.Handle, state agent.State, age time.Duration) inspect.Row {
		k := known(state, func(k *attention.Known) {
			k.Record.Handle, k.Status.Age = handle, &age
			if state == agent.Idle {
				k.Report.Done = ago(age)
			}
		})
		return inspect.Row{Handle: handle, Sight: *k.Sight}
	}
	broken := inspect.Row{Handle: "z", Sight: observe.Sight{Err: errors.New("not JSON")}}
	var order []agent.Handle
	for _, one := range judge.Queue([]inspect.Row{
		row("a", agent.Waiting, time.Minute), row("b", agent.Waiting, time.Hour), row("c", agent.Busy, time.Hour), row("D", agent.Idle, 2*time.Minute), broken,
	}) {
		order = append(order, one.Handle)
	}
	rig.Check(t, slices.Equal(order, []agent.Handle{"z", "D", "a", "b"}), "%v", order)
}
