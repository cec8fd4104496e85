package triage

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/claude/screen"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/team/inspect"
	"nbs-worker/internal/team/observe"

	"nbs-worker/internal/sim/rig"
)

var now = time.Date(2026, 2, 20, 12, 0, 0, 0, time.UTC)

// in returns an agent with a known state.
func in(status agent.Status) *inspect.View {
	r := agent.Record{Spec: agent.Spec{Handle: "alpha"}, Desired: agent.DesiredRunning}
	status.SamePID = status.State != agent.Dead
	return &inspect.View{Sight: observe.Sight{Status: status, Record: r}}
}

// with changes a view.
func with(v *inspect.View, change func(*inspect.View)) *inspect.View {
	change(v)
	return v
}

func left(percent int) func(*inspect.View) {
	return func(v *inspect.View) {
		v.Context = &agent.ContextUse{Tokens: (100 - percent) * 2000, Window: 200_000, UsedPercent: 100 - percent, Source: agent.SaysStatusLine}
	}
}

// quietFor is a busy agent without progress for a time, whose processes used some processor time in two seconds.
func quietFor(quiet, used time.Duration) func(*inspect.View) {
	return func(v *inspect.View) {
		v.Growth = &inspect.Growth{At: now.Add(-quiet), Of: "its transcript", Sample: &inspect.Sample{Over: 2 * time.Second, CPU: used}}
	}
}

func failedWith(class, text string) func(*inspect.View) {
	return func(v *inspect.View) {
		v.LastError = &inspect.LastError{Class: class, Text: text, At: now.Add(-time.Hour)}
	}
}

// startedAfter is an agent that was started some time after its last error, and was ready some time after that.
func startedAfter(d, ready time.Duration) func(*inspect.View) {
	return func(v *inspect.View) {
		v.Record.Started = v.LastError.At.Add(d)
		v.Record.Process = &agent.Process{Ready: v.Record.Started.Add(ready)}
	}
}

// fullFor is an agent whose account has used up the limit of five hours for some time still.
func fullFor(d time.Duration) func(*inspect.View) {
	return func(v *inspect.View) {
		v.Report.Limits = &agent.Limits{FiveHour: &agent.Limit{UsedPercent: 100, ResetsAt: now.Add(d)}, SevenDay: &agent.Limit{UsedPercent: 80, ResetsAt: now.Add(40 * time.Hour)}}
	}
}

func dead(cause agent.Cause) agent.Status { return agent.Status{State: agent.Dead, Cause: cause} }

var (
	idle   = agent.Status{State: agent.Idle, Source: agent.FromRegistry}
	busy   = agent.Status{State: agent.Busy, Source: agent.FromRegistry}
	failed = agent.Status{State: agent.TurnFailed, Source: agent.FromHooks}
)

func drafted(d inspect.Draft) func(*inspect.View) { return func(v *inspect.View) { v.Draft = &d } }

// judged is an agent, and the expected assessment.
type judged struct {
	view     *inspect.View
	verdict  Verdict
	level    Level
	working  bool
	evidence string
	steps    []Step
}

func mustJudge(t *testing.T, all map[string]judged) {
	t.Helper()
	for name, c := range all {
		a := Assess(Known{View: c.view, Handle: "alpha", Now: now, Bands: agent.DefaultBands, Patience: 15 * time.Minute})
		if a.Verdict != c.verdict || a.Level != c.level || a.Working != c.working || !strings.Contains(strings.Join(a.Evidence, "\n"), c.evidence) || !slices.Equal(a.Steps, c.steps) {
			t.Errorf("%s: %+v; want %s", name, a, fmt.Sprint(c.verdict, c.level, c.working, c.evidence, c.steps))
		}
	}
}

func TestAssessTheLiving(t *testing.T) {
	t.Parallel()
	mustJudge(t, map[string]judged{
		"a draft":         {with(in(idle), drafted(inspect.Draft{})), Held, 0, false, "a person's unsent draft has blocked messages since", []Step{Attend}},
		"a mixed draft":   {with(in(idle), drafted(inspect.Draft{Mixed: true})), Held, 0, false, "a person's unsent draft, which contains a message of nbs-worker, has blocked", []Step{Attend}},
		"a draft of ours": {with(in(idle), drafted(inspect.Draft{Ours: true})), Idle, 0, false, "its prompt has contained an unsent message of nbs-worker", nil},
		"works":           {in(busy), Healthy, 0, true, "the registry says busy", nil},
		"starts":          {in(agent.Status{State: agent.Starting, Source: agent.FromProcess}), Healthy, 0, true, "its process is starting", nil},
		"waits":           {in(agent.Status{State: agent.Waiting, Detail: "permission prompt", Source: agent.FromRegistry}), Waiting, 0, false, "waiting: permission prompt", []Step{Attend}},
		"asks":            {with(in(agent.Status{State: agent.Waiting}), func(v *inspect.View) { v.Dialog = screen.DialogAPIKey }), Waiting, 0, false, "it asks", []Step{Answer}},
		"drift":           {with(in(idle), func(v *inspect.View) { v.Drift = []observe.Drift{{Field: "cwd"}} }), Idle, 0, false, "cwd is", []Step{LookAtDrift}},
		"idle":            {in(idle), Idle, 0, false, "the registry says idle", nil},
		"retries":         {in(agent.Status{State: agent.Retrying, Source: agent.FromScreen, Retry: &agent.Retry{Attempt: 4, Of: 10, In: 3 * time.Second}}), Healthy, 0, true, "attempt 4 of 10 in 3s", nil},
		"untold":          {in(agent.Status{State: agent.Unknown, Detail: "it lives", Source: agent.FromProcess}), Unknown, 0, false, "its process is unknown, it lives", []Step{Look}},
		"forks":           {with(in(busy), func(v *inspect.View) { v.Strangers = []observe.Stranger{{PID: 7, Cwd: "/x"}} }), Held, 0, true, "pid 7 in \"/x\"", []Step{EndOther}},
		"low":             {with(in(idle), left(25)), Stressed, 2, false, "25% of its context is left (low): 150,000 of 200,000 tokens, by the status line", []Step{Compact}},
		"not low":         {with(in(idle), left(26)), Idle, 0, false, "idle", nil},
		"low, busy":       {with(in(busy), left(12)), Stressed, 2, true, "(critical)", []Step{Compact}},
		"floor":           {with(in(idle), left(9)), Stressed, 4, false, "9% of its context is left (floor)", []Step{StartFresh}},
		"full":            {with(with(in(failed), left(0)), failedWith("invalid_request", "Context limit reached")), Stressed, 4, false, "0% of its context is left", []Step{StartFresh}},

		"says it is full": {with(in(failed), failedWith("invalid_request", "Prompt is too long · the request is ~1000001 tokens")), Stressed, 2, false, "its conversation is full", []Step{Compact}},
		"stuck":           {with(in(busy), quietFor(16*time.Minute, 90*time.Millisecond)), Stuck, 2, false, "it has shown no progress for 16m; the last sign was its transcript", []Step{Interrupt}},
		"patience":        {with(in(busy), quietFor(15*time.Minute, 0)), Healthy, 0, true, "busy", nil},
		"computes":        {with(in(busy), quietFor(time.Hour, 900*time.Millisecond)), Healthy, 0, true, "900ms of processor time in 2s", nil},
		"not allowed":     {with(in(idle), func(v *inspect.View) { v.NotAllowed = fail.Errorf(fail.Held, "not allowed") }), Held, 0, false, "its record is not allowed", []Step{Allow}},
		"idle for long":   {with(in(idle), quietFor(time.Hour, 0)), Idle, 0, false, "idle", nil},
		"never sampled":   {with(in(busy), func(v *inspect.View) { v.Growth = &inspect.Growth{At: now.Add(-time.Hour)} }), Healthy, 0, true, "busy", nil},
		"process stopped": {with(with(in(busy), quietFor(0, 0)), func(v *inspect.View) { v.Growth.Halted = true }), Zombie, 3, false, "stopped by a signal at two looks 2s apart", []Step{ResumeForce}},

		"not known":                      {with(in(failed), failedWith("authentication_failed", "Please run /login")), Held, 0, false, "authentication_failed", []Step{LogIn}},
		"known again":                    {with(with(in(idle), failedWith("authentication_failed", "Please run /login")), startedAfter(time.Minute, time.Second)), Idle, 0, false, "idle", nil},
		"not proved":                     {with(with(in(idle), failedWith("authentication_failed", "Please run /login")), startedAfter(-time.Minute, time.Second)), Held, 0, false, "authentication_failed", []Step{LogIn}},
		"its prompt":                     {with(with(in(idle), failedWith("authentication_failed", "Please run /login")), startedAfter(-time.Second, time.Minute)), Held, 0, false, "authentication_failed", []Step{LogIn}},
		"usage limit":                    {with(in(failed), failedWith("rate_limit", "You've hit your session limit · resets 3am")), Held, 0, false, "resets 3am", []Step{AwaitReset, Prompt}},
		"usage limit that has reset":     {with(in(failed), failedWith("rate_limit", "You've hit your session limit · resets 11:30am (UTC)")), Held, 0, false, "the usage limit was in force until 2026-02-20T11:30:00Z", []Step{Prompt}},
		"usage limit of the status line": {with(with(in(failed), failedWith("rate_limit", "API Error: 429")), fullFor(2*time.Hour)), Held, 0, false, "a usage limit is in force until 2026-02-20T14:00:00Z", []Step{AwaitReset, Prompt}},
		"usage limit of both":            {with(with(in(failed), failedWith("rate_limit", "You've hit your session limit · resets 1pm (UTC)")), fullFor(2*time.Hour)), Held, 0, false, "a usage limit is in force until 2026-02-20T13:00:00Z", []Step{AwaitReset, Prompt}},
		"too many requests":              {with(in(failed), failedWith("rate_limit", "API Error: 429")), Held, 0, false, "its last turn ended with rate_limit", []Step{AwaitReset, Prompt}},
		"API error":                      {with(in(failed), failedWith("server_error", "API Error: 529")), Held, 0, false, "server_error: \"API Error: 529\"", []Step{Prompt}},
		"failed":                         {in(failed), Held, 0, false, "its last turn failed", []Step{Prompt}},
	})
}

// limitedBy is an agent whose launcher waits for the end of a usage limit.
func limitedBy(in time.Duration) func(*inspect.View) {
	return func(v *inspect.View) { v.Record.Restarts = agent.Restarts{Next: now.Add(in), After: agent.EndQuota} }
}

// refusedFor is an agent that claude refused to start a minute ago.
func refusedFor(words string) func(*inspect.View) {
	return func(v *inspect.View) {
		v.Record.Exits = []agent.Exit{{Code: 1, UptimeS: 1, At: now.Add(-time.Minute), LastScreen: words}}
	}
}

func TestAssessTheDead(t *testing.T) {
	t.Parallel()
	mustJudge(t, map[string]judged{
		"crashed": {in(dead(agent.Crashed)), Dead, 3, false, "crashed", []Step{Resume}},
		"reboot":  {in(dead(agent.LostReboot)), Dead, 3, false, "lost: reboot", []Step{Resume}},
		"exited":  {in(dead(agent.Exited)), Dead, 3, false, "exited", []Step{Resume, Dismiss}},
		"memory":  {in(dead(agent.OutOfMemory)), Dead, 3, false, "memory", []Step{FindMemory, Resume}},
		"login":   {with(in(dead(agent.Crashed)), failedWith("authentication_failed", "")), Dead, 3, false, "crashed", []Step{Resume, LogInAfter}},
		"unfit":   {in(agent.Status{State: agent.Dead, Cause: agent.NeverStarted, Detail: "no claude"}), Dead, 3, false, "no claude", []Step{StartMended}},
		"never":   {in(dead(agent.NeverStarted)), Missing, 3, false, "never started", []Step{Resume}},
		"stopped": {with(in(dead(agent.Stopped)), func(v *inspect.View) { v.Record.Desired = agent.DesiredStopped }), Stopped, 0, false, "on purpose", nil},
		"forbidden": {
			with(in(dead(agent.Crashed)), func(v *inspect.View) { v.NotAllowed = fail.Errorf(fail.Held, "not allowed") }), Held, 0, false, "not allowed", []Step{Allow},
		},
		"taken":     {with(in(dead(agent.Crashed)), func(v *inspect.View) { v.Strangers = []observe.Stranger{{PID: 7}} }), Held, 0, false, "pid 7", []Step{EndOther}},
		"no folder": {with(in(dead(agent.Crashed)), func(v *inspect.View) { v.Gone.Folder = "/gone" }), Missing, 0, false, "\"/gone\" is not there", []Step{FindFolder}},
		"no memory": {with(in(dead(agent.Crashed)), func(v *inspect.View) { v.Gone.Transcript = true }), Missing, 4, false, "the archive has no copy", []Step{StartFresh}},
		"backs off": {
			with(in(agent.Status{State: agent.Backoff, Cause: agent.Crashed}), func(v *inspect.View) { v.Record.Restarts.Next = now.Add(time.Second) }),
			Dead, 1, false, "will start it again at 2026-02-20T12:00:01Z", []Step{Look},
		},
		"at its limit": {
			with(in(agent.Status{State: agent.Backoff, Cause: agent.Crashed}), limitedBy(time.Hour)),
			Held, 0, false, "will start it again at 2026-02-20T13:00:00Z", []Step{AwaitReset},
		},
		"at its limit, and its launcher is gone": {with(in(dead(agent.LostReboot)), limitedBy(time.Hour)), Held, 3, false, "until 2026-02-20T13:00:00Z", []Step{AwaitReset}},
		"refused for a limit": {
			with(in(dead(agent.Crashed)), refusedFor("You've hit your session limit · resets 1pm (UTC)")), Held, 3, false, "until 2026-02-20T13:00:00Z", []Step{AwaitReset},
		},
		"refused for a limit of unknown length": {
			with(in(dead(agent.Crashed)), refusedFor("Claude usage limit reached.")), Held, 3, false, "until 2026-02-20T12:14:00Z", []Step{AwaitReset},
		},
		"refused for a limit whose end the status line told": {
			with(with(in(dead(agent.Crashed)), refusedFor("Claude usage limit reached.")), fullFor(2*time.Hour)), Held, 3, false, "until 2026-02-20T14:00:00Z", []Step{AwaitReset},
		},
		"its limit is lifted": {with(in(dead(agent.Crashed)), limitedBy(-time.Second)), Dead, 3, false, "crashed", []Step{Resume}},

		"crash loop": {
			with(in(dead(agent.Crashed)), func(v *inspect.View) {
				v.Record.Restarts.Hold = &agent.Hold{Class: agent.EndCrash, Reason: "it failed 5 times", Since: now}
			}),
			Held, 3, false, "held since 2026-02-20T12:00:00Z: it failed 5 times", []Step{ReadEnd, ResumeMended},
		},
		"keeps crashing": {
			with(in(dead(agent.Crashed)), func(v *inspect.View) {
				crash := agent.Exit{Code: 1, UptimeS: 3}
				v.Record.Exits = []agent.Exit{crash, crash, crash}
			}), Held, 3, false, "code 1", []Step{ReadEnd, ResumeMended},
		},
		"held": {
			with(in(dead(agent.Crashed)), func(v *inspect.View) {
				v.Record.Restarts.Hold = &agent.Hold{Class: agent.EndAuth, Reason: "not logged in", Since: now}
			}),
			Held, 3, false, "held since 2026-02-20T12:00:00Z: not logged in", []Step{ResumeMended},
		},
		"damaged": {&inspect.View{Sight: observe.Sight{Err: errors.New("bad JSON"), Status: agent.Status{State: agent.Unknown}}}, Unknown, 0, false, "bad JSON", []Step{Look}},
	})
}

// A tmux server that does not answer is mentioned, and does not make a running agent unwell.
func TestWhatCouldNotBeAskedIsEvidence(t *testing.T) {
	t.Parallel()
	a := Assess(Known{View: with(in(idle), func(v *inspect.View) { v.Err = errors.New("tmux did not answer") }), Handle: "alpha", Now: now, Bands: agent.DefaultBands})
	rig.Check(t, a.Verdict == Idle && slices.Contains(a.Evidence, "some facts are unknown: tmux did not answer"), "%+v", a)
}

func TestWhoNeedsAPerson(t *testing.T) {
	t.Parallel()
	for want, all := range map[bool][]Assessment{
		true:  {{Verdict: Waiting}, {Verdict: Held}, {Verdict: Held, Level: LevelResume}, {Verdict: Unknown}, {Verdict: Missing}},
		false: {{Verdict: Healthy}, {Verdict: Idle}, {Verdict: Stopped}, {Verdict: Stuck, Level: LevelCompact}, {Verdict: Dead, Level: LevelResume}},
	} {
		for _, a := range all {
			rig.Check(t, a.NeedsPerson() == want, "%+v: %t", a, !want)
		}
	}
}
