package rig

import "testing"

// Must ends the test when something that it needs has failed.
func Must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Check fails the test, which goes on, when something does not hold; the words say what is instead.
func Check(t testing.TB, holds bool, format string, args ...any) {
	t.Helper()
	if !holds {
		t.Errorf(format, args...)
	}
}
