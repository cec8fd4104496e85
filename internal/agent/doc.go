// Package agent is the vocabulary of nbs-worker: handles, session ids, models,
// permission modes, records, states and errors.
//
// It is pure. It opens no file, starts no process and reads no clock, so that
// every rule in it can be tested with values alone. It imports nothing of this
// module.
package agent
