// Package faults plans kills and carries them out: which process of an agent is killed, at which step of which verb.
//
// A Plan is a function of its seed alone, so a run that found something is repeated by its number. A step is seen from
// outside, without any hook in the product: each change on disk that a verb, the launcher, claude or tmux makes (a
// temporary file created, a record renamed into place, a lease signed, an entry in Claude's registry) is one, and is
// addressed by its name and its number since the verb began. The kill follows within a fraction of a millisecond, from
// the goroutine that reads the change. A fault may also come after a share of the verb's usual length, which finds the
// moments at which nothing is written.
//
// The caller finds the processes to kill: the package knows no pid and signals only the processes that it is handed. It
// must not import anything of the product.
package faults
