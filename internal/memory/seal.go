package memory

// SealKind is the kind of the user's seal of a database, which it needs because agents are told its content, and
// files of a project are not trusted by themselves.
const SealKind = "memory"

// SealName is the name under which a database is sealed, with the id that it got when it was made.
func SealName(instance string) string { return "memory.db " + instance }
