package triage

// Verdict is how well an agent is, in a word.
type Verdict string

// The verdicts.
const (
	Healthy  Verdict = "healthy"  // it works, or starts
	Idle     Verdict = "idle"     // it waits for a prompt, and all is well
	Stopped  Verdict = "stopped"  // on purpose
	Stressed Verdict = "stressed" // little of its context is left
	Waiting  Verdict = "waiting"  // for a person
	Stuck    Verdict = "stuck"    // busy, but without progress
	Zombie   Verdict = "zombie"   // its terminal takes keys, and its process executes nothing
	Held     Verdict = "held"     // it cannot go on because of a login, a limit, a permission or another claude
	Dead     Verdict = "dead"     // with a cause
	Missing  Verdict = "missing"  // it has a record, but no start, no folder or no conversation
	Unknown  Verdict = "unknown"  // a question had no answer; it may still run
)

// IsWell reports whether nothing has to be done.
func (v Verdict) IsWell() bool { return v == Healthy || v == Idle || v == Stopped }

// Level is how far a repair goes. Each level takes more from an agent than the one before it.
type Level int

// The levels.
const (
	LevelAssess  Level = iota // a look, and nothing else
	LevelPing                 // check whether it reacts
	LevelCompact              // interrupt it, and compact its conversation
	LevelResume               // end what is left of it, and bring it back into its conversation
	LevelFresh                // start it in a new conversation
)

// String returns what is done at a level.
func (l Level) String() string {
	names := [...]string{"look", "ping", "interrupt and compact", "resume", "new conversation"}
	return names[max(LevelAssess, min(l, LevelFresh))]
}
