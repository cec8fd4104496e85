package watch

// Kind is a kind of event that a person can be notified of.
type Kind string

// The kinds. The first four are the reasons of package attention.
const (
	Waits    Kind = "waits"    // it asks a person, or is not logged in
	Down     Kind = "down"     // it should run and does not run
	Short    Kind = "short"    // the remaining context is in a band below healthy, a usage limit ended its turn, or its budget is spent
	Done     Kind = "done"     // its turn has ended, and no person has looked since
	Holds    Kind = "held"     // only a person can help otherwise, or it is quarantined
	Repaired Kind = "repaired" // it was repaired
	Paused   Kind = "paused"   // the project was paused: nothing is repaired

	Unreachable Kind = "unreachable" // a host does not answer: of watch --hosts
	Reachable   Kind = "reachable"   // it answers again
)

// Kinds lists all kinds.
var Kinds = []Kind{Waits, Down, Short, Done, Holds, Repaired, Paused, Unreachable, Reachable}

// earlier are names that kinds had in policies before.
var earlier = map[Kind]Kind{"waiting": Waits, "crashed": Down, "context": Short}
