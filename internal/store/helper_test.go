package store

import (
	"os"
	"strconv"
	"syscall"
	"testing"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/sim/rig"
)

// All tests run under the umask that protects nothing.
func TestMain(m *testing.M) {
	syscall.Umask(0)
	if role := rig.Role(); role != nil {
		playRole(role)
		return
	}
	os.Exit(rig.Tight(m))
}

// playRole makes the test binary another nbs-worker: a role, a project and what the
// role needs.
func playRole(words []string) {
	role, project := words[0], words[1]
	s, err := Open(project)
	must(err)
	unlock := func() {}
	defer func() { unlock() }()
	switch role {
	case "verb":
		unlock, err = s.LockVerb(agent.Handle(words[2]), "resume", someTime())
	case "lease-with-child":
		unlock, err = s.AcquireLease(aliceID, Holder{PID: os.Getpid(), Verb: "run", Handle: "alice", Since: someTime()})
		must(err)
		rig.StartBelow(false, "stay", project)
	case "count":
		n, _ := strconv.Atoi(words[2])
		must(count(s, n))
	}
	must(err)
	rig.Stay()
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}

func someTime() time.Time { return time.Date(2026, 2, 20, 11, 44, 7, 0, time.UTC) }
