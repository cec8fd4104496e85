// Package rig provides what tests run in: private folders, a scrubbed environment, the pinned Claude Code, the stand-in,
// our own binaries; and assertions of one line. It is imported by tests only.
//
// Invariants: nothing of the developer's own is used (home, Claude configuration, tmux server, variables). What is
// missing fails the test and says how to get it; only a test that needs root or a tool of root's is skipped, on a
// developer's machine and never where NBS_TEST_NO_SKIP is 1. A package that starts Claude Code runs its tests by Main,
// inside a namespace that has loopback only.
package rig

import (
	"flag"
	"os"
	"time"

	"nbs-worker/internal/sim/isolate"
)

// Main is for TestMain: it runs the tests in isolation and then removes the binaries that they built. The tests may take
// as long as limit on the usual machine, see [Scaled], and never longer than the -timeout of the command line.
//
//	func TestMain(m *testing.M) { os.Exit(rig.Main(m, 8*time.Minute)) }
func Main(m interface{ Run() int }, limit time.Duration) int { return isolate.Main(tidy{m, limit}) }

type tidy struct {
	m     interface{ Run() int }
	limit time.Duration
}

func (t tidy) Run() int {
	flag.Parse()
	timeout := flag.Lookup("test.timeout").Value
	if given := timeout.(flag.Getter).Get().(time.Duration); given == 0 || given > Scaled(t.limit) {
		_ = timeout.Set(Scaled(t.limit).String()) // well formed
	}
	defer func() {
		if binaries.dir != "" {
			_ = os.RemoveAll(binaries.dir) // a temporary folder
		}
	}()
	return t.m.Run()
}
