package memory

// SealKind is of the user's seal of a database: what lies in a project decides nothing by itself, and what a
// database holds agents are told.
const SealKind = "memory"

// SealName is under which name a database is sealed, by the id that was made with it.
func SealName(instance string) string { return "memory.db " + instance }
