package watch

// Kind is a kind of event that a person can be notified of.
type Kind string

// The kinds.
const (
	Waits    Kind = "waiting"  // it asks a person
	Holds    Kind = "held"     // only a person can help, or it is quarantined
	Crashed  Kind = "crashed"  // it should run and does not run
	Repaired Kind = "repaired" // it was repaired
	Fills    Kind = "context"  // the remaining context is in a band below healthy
	Paused   Kind = "paused"   // the project was paused: nothing is repaired
)

// Kinds lists all kinds.
var Kinds = []Kind{Waits, Holds, Crashed, Repaired, Fills, Paused}

func kindNames() []string {
	names := make([]string, len(Kinds))
	for i, kind := range Kinds {
		names[i] = string(kind)
	}
	return names
}
