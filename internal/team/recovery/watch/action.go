package watch

import (
	"time"

	"nbs-worker/internal/agent"
)

// Word names what a watch did, or failed to do.
type Word string

// The words.
const (
	DidRepair     Word = "repaired"
	DidNotRepair  Word = "not repaired"
	SawHeld       Word = "held" // it needs a person now
	DidPause      Word = "paused"
	DidUnpause    Word = "unpaused"
	DidReachLimit Word = "limit"
	DidNotTell    Word = "not told"
)

// Action is something that a watch did, or failed to do.
type Action struct {
	At     time.Time
	Word   Word
	Handle agent.Handle // "": it concerns no single agent
	Detail string
}
