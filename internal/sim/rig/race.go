//go:build race

package rig

// raceFlags build our own programs under the race detector when the tests are.
var raceFlags = []string{"-race"}
