//go:build race

package rig

// Race reports whether the tests run under the race detector, which needs time and memory of its own.
const Race = true

// raceFlags build our own programs under the race detector when the tests are.
var raceFlags = []string{"-race"}
