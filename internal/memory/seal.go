package memory

// SealKind is the kind of the user's seal of a database. The database needs one because agents read its content, and
// files of a project are not trusted by themselves.
const SealKind = "memory"

// SealName returns the name under which a database is sealed: it contains the id of the database.
func SealName(instance string) string { return "memory.db " + instance }
