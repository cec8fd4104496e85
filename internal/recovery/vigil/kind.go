package vigil

// Kind is what a person may be told of.
type Kind string

// The kinds.
const (
	Waits    Kind = "waiting"  // it asks a person
	Holds    Kind = "held"     // only a person can help, or it is quarantined
	Crashed  Kind = "crashed"  // it should run and does not
	Repaired Kind = "repaired" // it was brought back
	Fills    Kind = "context"  // less than a band of its context is left
)

// Kinds are all of them.
var Kinds = []Kind{Waits, Holds, Crashed, Repaired, Fills}

func kindNames() []string {
	names := make([]string, len(Kinds))
	for i, kind := range Kinds {
		names[i] = string(kind)
	}
	return names
}
