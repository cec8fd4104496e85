//go:build !race

package rig

// Race reports whether the tests run under the race detector, which needs time and memory of its own.
const Race = false

var raceFlags []string
