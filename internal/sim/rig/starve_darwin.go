package rig

import "testing"

// Starve fails the test: macOS binds no process to a processor.
func Starve(t testing.TB, _ int) (feed func()) {
	t.Helper()
	lacks(t, "macOS binds no process to a processor")
	return func() {}
}
