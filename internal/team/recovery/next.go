package recovery

import (
	"context"
	"fmt"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/store/runs"
	"nbs-worker/internal/team/inspect"
	"nbs-worker/internal/team/triage"
)

// next returns the level to try for an agent, or why no level is tried. tried is the highest level that was already
// tried for its present verdict.
func (l *Ladder) next(p *Patient, o *Options, tried triage.Level) (level triage.Level, left string) {
	switch {
	case p.Verdict.IsWell():
		return 0, ""
	case p.Working:
		return 0, "it is working, and is not touched"
	case p.NeedsPerson() && (!o.Named || p.Level == triage.LevelAssess):
		return 0, "it needs a person"
	case p.Heals() && p.View.Record.Restarts.Next.Sub(p.At) > pingTime:
		return 0, "it is left to its launcher: " + p.View.Status.Detail
	case o.Leave != nil && o.Leave(p):
		return 0, "it is left as it is"
	case o.MaxLevel >= triage.LevelResume && tried < triage.LevelFresh && l.cutShort(p) != nil:
		return triage.LevelFresh, "" // its conversation is already replaced; only the start is left to do
	}
	level = needed(p, tried, l.isAtFloor(p))
	switch {
	case level <= tried:
		return 0, fmt.Sprintf("%s did not help, and nothing else would", tried)
	case level > o.MaxLevel:
		return 0, fmt.Sprintf("it needs level %d, %s, and no more than level %d is permitted", level, level, o.MaxLevel)
	case level == triage.LevelFresh && !o.Fresh:
		return 0, "it needs level 4, a new conversation in place of its own, which is not permitted"
	}
	return level, ""
}

// Heals reports whether the agent's launcher waits to start it again.
func (p *Patient) Heals() bool { return p.View.Status.State == agent.Backoff && !p.NeedsPerson() }

// needed returns the mildest untried level that may help. With little context left, a resume does not help: it loads
// the full conversation again. A new conversation helps if compacting frees nothing, but not if the API refused to
// compact. It does not help an agent that a resume cannot start either: the same cause would stop it there, and its
// own conversation would be lost.
func needed(p *Patient, tried triage.Level, floor bool) triage.Level {
	hangs := p.Verdict == triage.Stuck || p.Verdict == triage.Zombie
	switch {
	case hangs && tried < triage.LevelPing:
		return triage.LevelPing
	case hangs && tried >= p.Level:
		return triage.LevelResume
	case p.Verdict == triage.Stressed && floor:
		return triage.LevelFresh
	default:
		return p.Level
	}
}

// isAtFloor reports whether compacting the agent's present conversation was tried and freed nothing.
func (l *Ladder) isAtFloor(p *Patient) bool {
	last := l.last(p)
	return last != nil && last.Floor && last.SessionID == p.View.Record.SessionID
}

// cutShort returns the attempt at a new conversation that was killed after it had replaced the old one, if no agent
// runs in the new one; nil if there is no such attempt. If the new conversation has a transcript, the agent was told
// where the old one is.
func (l *Ladder) cutShort(p *Patient) *runs.Attempt {
	last := l.last(p)
	if last == nil || !last.Ended.IsZero() || triage.Level(last.Level) != triage.LevelFresh || last.SessionID == p.View.Record.SessionID {
		return nil
	}
	if p.View.Transcript != nil || p.Verdict != triage.Dead && p.Verdict != triage.Missing {
		return nil
	}
	return last
}

// noteCutShort journals the state of an agent whose last repair was killed. If the journal cannot be written, the
// repair goes on.
func (l *Ladder) noteCutShort(ctx context.Context, p *Patient) {
	last := l.last(p)
	if last == nil || !last.Ended.IsZero() || l.cutShort(p) != nil {
		return
	}
	level := triage.Level(last.Level)
	if err := l.Note(ctx, p, fmt.Sprintf("level %d, %s: was cut short; now it is %s", level, level, p.words())); err != nil {
		return
	}
	last.Ended, last.Failure = p.seen(), "it was cut short"
	_ = l.PutAttempt(p.Handle, *last) // on failure the next run journals it again
}

// last returns the latest repair of an agent; nil if it cannot be read, so that only the look decides.
func (l *Ladder) last(p *Patient) *runs.Attempt {
	last, _ := l.Attempt(p.Handle)
	return last
}

// failedLogin reports whether a turn of the agent has failed since then because claude was not logged in.
func (p *Patient) failedLogin(since time.Time) bool {
	last := p.View.LastError
	return last != nil && last.Class == inspect.ClassAuthentication && last.At.After(since)
}

// seen returns the time of the look in the recorded form: UTC and whole seconds.
func (p *Patient) seen() time.Time { return p.At.UTC().Truncate(time.Second) }
