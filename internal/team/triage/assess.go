package triage

import (
	"fmt"
	"strings"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/human"
	"nbs-worker/internal/team/observe"
	"nbs-worker/internal/team/restart"
)

// Assessment is how well an agent is, and what it needs.
type Assessment struct {
	Handle   agent.Handle
	Verdict  Verdict
	Level    Level     // of repair that it needs; LevelAssess if it is well, or if only a person can help
	Working  bool      // it is in a turn and makes progress: no repair may touch it
	Evidence []string  // what was seen, in words and numbers
	Steps    []Step    // what to do next, in order
	Until    time.Time // when the usage limit that prevents its start, or its next turn, ends; zero: no such limit
}

// NeedsPerson reports whether a person has to act before anything else helps.
func (a *Assessment) NeedsPerson() bool {
	return a.Verdict == Held || !a.Verdict.IsWell() && a.Level == LevelAssess
}

// Assess judges an agent by a survey. Unknown is not dead, and an agent that waits for a person is not stuck. What
// the agent reports about itself, such as that it is busy, counts as long as it makes progress.
func Assess(k Known) Assessment {
	a := Assessment{Handle: k.Handle, Steps: []Step{}}
	switch {
	case k.Record.Handle == "" || k.Lost:
		a.is(Unknown, LevelAssess, Look)
		a.saw("the record cannot be read: %v", k.Err)
		return a
	case k.Status.Down():
		k.assessDead(&a)
	default:
		k.assessLiving(&a)
	}
	if k.Err != nil {
		a.saw("some facts are unknown: %v", k.Err)
	}
	return a
}

func (a *Assessment) is(verdict Verdict, level Level, steps ...Step) {
	a.Verdict, a.Level, a.Steps = verdict, level, append(a.Steps, steps...)
}

// awaits records that a usage limit holds the agent.
func (a *Assessment) awaits(until time.Time, level Level) {
	a.is(Held, level, AwaitReset)
	a.Until = until
	a.saw("a usage limit is in force until %s", until.UTC().Format(time.RFC3339))
}

func (a *Assessment) saw(format string, args ...any) {
	a.Evidence = append(a.Evidence, fmt.Sprintf(format, args...))
}

func (k *Known) assessDead(a *Assessment) {
	if k.Record.LaunchDesired() != agent.DesiredRunning {
		a.is(Stopped, LevelAssess)
		a.saw("it was ended on purpose")
		if k.IsNotAllowed() {
			a.Steps = append(a.Steps, Allow)
		}
		return
	}
	a.saw("%s", k.death())
	switch {
	case k.IsNotAllowed():
		a.is(Held, LevelAssess, Allow)
		a.saw("its record is not allowed")
	case len(k.Strangers) > 0:
		a.is(Held, LevelAssess, EndOther)
		a.saw("another claude has its conversation open: pid %d in %s", k.Strangers[0].PID, human.Quote(k.Strangers[0].Cwd))
	case k.Gone.Folder != "":
		a.is(Missing, LevelAssess, FindFolder)
		a.saw("its folder %s is not there", human.Quote(k.Gone.Folder))
	case k.Gone.Transcript:
		a.is(Missing, LevelFresh, StartFresh)
		a.saw("its transcript existed at %s; it is gone, and the archive has no copy", k.Record.TranscriptSeen.UTC().Format(time.RFC3339))
	case k.Record.Restarts.Hold != nil:
		hold := k.Record.Restarts.Hold
		if hold.Class == agent.EndCrash {
			a.Steps = append(a.Steps, ReadEnd)
		}
		a.is(Held, LevelResume, ResumeMended)
		a.saw("its restarts have been held since %s: %s", hold.Since.UTC().Format(time.RFC3339), hold.Reason)
	case k.Status.State == agent.Backoff && k.Job != nil:
		a.is(Dead, LevelPing, Look)
		a.saw("Slurm will start it again: %s", k.Job.Word())
	case k.Status.State == agent.Backoff:
		a.saw("its launcher will start it again at %s", k.Record.Restarts.Next.UTC().Format(time.RFC3339))
		if k.Record.Restarts.After == agent.EndQuota {
			a.awaits(k.Record.Restarts.Next, LevelAssess)
		} else {
			a.is(Dead, LevelPing, Look)
		}
	case k.LimitedUntil().After(k.Now):
		a.awaits(k.LimitedUntil(), LevelResume)
	case restart.KeepsCrashing(&k.Record):
		a.is(Held, LevelResume, ReadEnd, ResumeMended)
		a.saw("it ended again and again soon after its start: %s", k.Record.LastExit().Summary())
	case k.Status.Cause == agent.NeverStarted && k.Status.Detail == "":
		a.is(Missing, LevelResume, Resume)
	default:
		a.is(Dead, LevelResume, k.afterDeath()...)
	}
}

// afterDeath returns the steps for the cause of death: nearly always a resume, and what to do before or after it so
// that the agent does not end in the same way.
func (k *Known) afterDeath() []Step {
	switch {
	case k.Status.Cause == agent.NeverStarted:
		return []Step{StartMended}
	case k.needsLogin():
		return []Step{Resume, LogInAfter}
	case k.Status.Cause == agent.OutOfMemory:
		return []Step{FindMemory, Resume}
	case k.Status.Cause == agent.Exited:
		return []Step{Resume, Dismiss}
	default:
		return []Step{Resume}
	}
}

// death describes the cause of death, its detail, and how long ago it was.
func (k *Known) death() string {
	words := string(k.Status.Cause)
	if k.Status.Detail != "" {
		words += " (" + k.Status.Detail + ")"
	}
	if k.Status.Age != nil {
		words += ", " + human.Ago(k.Now.Add(-*k.Status.Age), k.Now)
	}
	return words
}

func (k *Known) assessLiving(a *Assessment) {
	k.judgeLiving(a)
	if k.Unsaved != "" {
		a.saw("its turns are being lost: %s", k.Unsaved)
	}
	a.saw("%s", k.state())
	a.Working = k.isWorking() && a.Verdict != Stuck && a.Verdict != Zombie
}

func (k *Known) judgeLiving(a *Assessment) {
	switch {
	case k.Growth != nil && k.Growth.Halted:
		a.is(Zombie, LevelResume, ResumeForce)
		a.saw("its process was stopped by a signal at two looks %s apart; in between it used %s of processor time",
			k.Growth.Sample.Over.Round(time.Second), k.Growth.Sample.CPU.Round(time.Millisecond))
	case k.Status.State == agent.Unknown:
		a.is(Unknown, LevelAssess, Look)
	case k.Status.State == agent.Waiting && k.Dialog != "":
		a.is(Waiting, LevelAssess, Answer)
	case k.Status.State == agent.Waiting:
		a.is(Waiting, LevelAssess, Attend)
	case len(k.Strangers) > 0:
		a.is(Held, LevelAssess, EndOther)
		a.saw("another claude has its conversation open: pid %d in %s", k.Strangers[0].PID, human.Quote(k.Strangers[0].Cwd))
	case k.Unsaved != "": // a repair would lose them for good
		a.is(Held, LevelAssess, MakeRoom)
	case k.needsLogin():
		a.is(Held, LevelAssess, LogIn)
		a.saw("its last turn ended with %s: %s", k.LastError.Class, human.Quote(k.LastError.Text))
	case k.saysFull():
		a.is(Stressed, LevelCompact, Compact)
		a.saw("its conversation is full: %s", human.Quote(k.LastError.Text))
	case k.Status.State == agent.TurnFailed && !k.isFull():
		k.assessFailure(a)
	case k.Status.State == agent.Busy && k.standsStill(a):
		a.is(Stuck, LevelCompact, Interrupt)
	case k.band(a):
	case k.Draft != nil && !k.Draft.Ours:
		a.is(Held, LevelAssess, Attend)
		with := ""
		if k.Draft.Mixed {
			with = ", which contains a message of nbs-worker,"
		}
		a.saw("a person's unsent draft%s has blocked messages since %s", with, k.Draft.Since.UTC().Format(time.RFC3339))
	default:
		k.assessWell(a)
	}
}

func (k *Known) isWorking() bool {
	return k.Status.State == agent.Busy || k.Status.State == agent.Retrying || k.Status.State == agent.Starting
}

func (k *Known) assessWell(a *Assessment) {
	a.is(Healthy, LevelAssess)
	if k.Status.State == agent.Idle || k.Status.State == agent.TurnFailed {
		a.Verdict = Idle
	}
	if k.IsNotAllowed() { // it does not start again before a person allows it
		a.is(Held, LevelAssess, Allow)
		a.saw("its record is not allowed")
	}
	if retry := k.Status.Retry; retry != nil {
		a.saw("attempt %d of %d in %s", retry.Attempt, retry.Of, retry.In)
	}
	if k.Draft != nil {
		a.saw("its prompt has contained an unsent message of nbs-worker since %s; the next message replaces it", k.Draft.Since.UTC().Format(time.RFC3339))
	}
	if len(k.Drift) > 0 {
		a.Steps = append(a.Steps, LookAtDrift)
	}
	for _, d := range k.Drift {
		if d.Field == observe.FieldWorktree {
			a.saw("Claude did not go back to its worktree %s: it works in %s", human.Quote(d.Recorded), human.Quote(d.Live))
			continue
		}
		a.saw("%s is %s, and the record has %s", d.Field, human.Quote(d.Live), human.Quote(d.Recorded))
	}
}

// witnesses introduce the state of an agent by its source, in words.
var witnesses = map[string]string{
	agent.FromRegistry: "the registry says", agent.FromHooks: "its hooks say", agent.FromScreen: "its screen shows",
	agent.FromProcess: "its process is", agent.FromRecord: "its record says",
}

// state describes what the agent does, according to which source, and for how long.
func (k *Known) state() string {
	words := witnesses[k.Status.Source] + " " + k.Status.Word()
	if k.Status.State == agent.Unknown && k.Status.Detail != "" {
		words += ", " + k.Status.Detail
	}
	if k.Dialog != "" {
		words += ", it asks " + k.Dialog.Question()
		if k.Asked != nil {
			words += ": " + k.Asked.String()
		}
	}
	if k.Status.Age != nil && *k.Status.Age >= time.Second {
		words += ", for " + rounded(*k.Status.Age)
	}
	return words
}

// assessFailure judges an agent that waits for a prompt after a failed turn.
func (k *Known) assessFailure(a *Assessment) {
	a.is(Held, LevelAssess)
	failure := k.LastError
	switch {
	case failure == nil:
		a.Steps = append(a.Steps, Prompt)
		a.saw("its last turn failed")
		return
	case failure.IsUsageLimit():
		k.assessLimit(a)
	default:
		a.Steps = append(a.Steps, Prompt)
	}
	a.saw("its last turn ended with %s: %s", failure.Class, human.Quote(failure.Text))
}

// assessLimit judges an agent whose last turn a usage limit has ended. Once the limit has reset, it only needs a prompt.
func (k *Known) assessLimit(a *Assessment) {
	ends := k.LimitEnds()
	switch {
	case ends.IsZero():
		a.Steps = append(a.Steps, AwaitReset, Prompt)
	case ends.After(k.Now):
		a.awaits(ends, LevelAssess)
		a.Steps = append(a.Steps, Prompt)
	default:
		a.Steps = append(a.Steps, Prompt)
		a.saw("the usage limit was in force until %s", ends.UTC().Format(time.RFC3339))
	}
}

// saysFull reports whether Claude said at the end of the last turn that the conversation is full. A compaction may
// still help: it has not been tried.
func (k *Known) saysFull() bool {
	return k.LastError != nil && k.LastError.IsTooLong() && !k.isFull()
}

// isFull reports whether the last turn may have failed because the conversation was full.
func (k *Known) isFull() bool {
	return k.Context != nil && k.Context.LeftPercent() < k.Bands.Floor
}

// band judges an agent with little context left; it returns false for any other. At the floor a compaction would
// have to read the full conversation again, and a resume would load all of it: only a new conversation helps.
func (k *Known) band(a *Assessment) bool {
	if k.Context == nil {
		return false
	}
	left := k.Context.LeftPercent()
	band := k.Bands.Of(left)
	switch band {
	case agent.Low, agent.Critical:
		a.is(Stressed, LevelCompact, Compact)
	case agent.Floor:
		a.is(Stressed, LevelFresh, StartFresh)
	default:
		return false
	}
	a.saw("%d%% of its context is left (%s): %s of %s tokens, by the %s", left, band,
		human.Thousands(k.Context.Tokens), human.Thousands(k.Context.Window), k.Context.Source)
	return true
}

// quiet is the share of one processor below which a claude only draws its spinner.
const quiet = 0.1

// standsStill reports whether a busy agent has shown no growth for longer than the patience, while its processes use
// no more than a spinner does.
func (k *Known) standsStill(a *Assessment) bool {
	g := k.Growth
	if g == nil || g.Sample == nil || k.Now.Sub(g.At) <= k.Patience {
		return false
	}
	a.saw("it has shown no progress for %s; the last sign was %s", rounded(k.Now.Sub(g.At)), g.Of)
	a.saw("its processes used %s of processor time in %s", g.Sample.CPU.Round(time.Millisecond), g.Sample.Over.Round(time.Second))
	return g.Sample.CPU.Seconds() < quiet*g.Sample.Over.Seconds()
}

// rounded returns a duration in rounded words.
func rounded(d time.Duration) string {
	if d < time.Minute {
		return d.Round(time.Second).String()
	}
	return strings.TrimSuffix(d.Round(time.Minute).String(), "0s")
}
