// Package rig provides what tests run in: private folders, a scrubbed environment, the pinned Claude Code, the stand-in,
// our own binaries; and assertions of one line. It is imported by tests only.
//
// Invariants: nothing of the developer's own is used (home, Claude configuration, tmux server, variables). What is
// missing fails the test and says how to get it; only a test that needs root or a tool of root's is skipped, on a
// developer's machine and never where NBS_TEST_NO_SKIP is 1. A package that starts Claude Code runs its tests by Main,
// inside a namespace that has loopback only.
package rig

import (
	"os"

	"nbs-worker/internal/sim/isolate"
)

// Main is for TestMain: it runs the tests in isolation and then removes the binaries that they built.
//
//	func TestMain(m *testing.M) { os.Exit(rig.Main(m)) }
func Main(m interface{ Run() int }) int { return isolate.Main(tidy{m}) }

type tidy struct{ m interface{ Run() int } }

func (t tidy) Run() int {
	defer func() {
		if binaries.dir != "" {
			_ = os.RemoveAll(binaries.dir) // a temporary folder
		}
	}()
	return t.m.Run()
}
