package rig

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Must fails the test and ends it when there is an error.
func Must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Check fails the test, which goes on, when something does not hold; the message describes what was found instead.
func Check(t testing.TB, holds bool, format string, args ...any) {
	t.Helper()
	if !holds {
		t.Errorf(format, args...)
	}
}

// Same fails the test, which goes on, when two values differ, and shows where.
func Same(t testing.TB, what string, want, got any, opts ...cmp.Option) {
	t.Helper()
	if diff := cmp.Diff(want, got, opts...); diff != "" {
		t.Errorf("%s: -want +got:\n%s", what, diff)
	}
}

// Equal fails the test, which goes on, when two values differ; what names the value.
func Equal[T comparable](t testing.TB, got, want T, what string, args ...any) {
	t.Helper()
	if got != want {
		t.Errorf("%s: %+v; want %+v", fmt.Sprintf(what, args...), got, want)
	}
}

// Gives checks the results of a call: the error is nil and the value is the wanted one. what names the call.
func Gives[T comparable](t testing.TB, want T, what string, args ...any) func(got T, err error) {
	t.Helper()
	return func(got T, err error) {
		t.Helper()
		if err != nil || got != want {
			t.Errorf("%s: %+v, %v; want %+v", fmt.Sprintf(what, args...), got, err, want)
		}
	}
}
