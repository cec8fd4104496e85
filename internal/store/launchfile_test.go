package store

import (
	"os"
	"strings"
	"testing"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/sim/rig"
	"nbs-worker/internal/store/storetest"
)

func TestLaunchIsTakenOnce(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	want := Launch{Invocation: "i", Claude: "/bin/claude", Env: []string{"A=b\nc", "", "B=\xff\xfe", "KEY=secret"}, Prompt: "Hello \u2713\n<&>"}
	rig.Must(t, s.PutLaunch("Alice", want))
	got, err := s.TakeLaunch("alice", "i")
	rig.Must(t, err)
	rig.Same(t, "the launch", want, got)
	entries, _ := os.ReadDir(string(s.launches()))
	rig.Check(t, len(entries) == 0, "the secret stays on disk: %v", entries)
	_, err = s.TakeLaunch("alice", "i")
	storetest.WantKind(t, "a second time", err, fail.Conflict)
}

// A launcher that comes late must not take away what a later start left for its own.
func TestLaunchOfAnotherStartIsLeft(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	for _, id := range []agent.Invocation{"first", "second"} {
		rig.Must(t, s.PutLaunch("alice", Launch{Invocation: id}))
	}
	_, err := s.TakeLaunch("alice", "first")
	storetest.WantKind(t, "the superseded start", err, fail.Conflict)
	got, err := s.TakeLaunch("alice", "second")
	rig.Check(t, err == nil && got.Invocation == "second", "the newer start: %+v, %v", got, err)
}

func TestOneOfManyTakesTheLaunch(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	const takers = 16
	for range 20 {
		rig.Must(t, s.PutLaunch("alice", Launch{Invocation: "i"}))
		outcomes := make(chan error, takers)
		for range takers {
			go func() { _, err := s.TakeLaunch("alice", "i"); outcomes <- err }()
		}
		took := 0
		for range takers {
			if err := <-outcomes; err == nil {
				took++
			} else if fail.KindOf(err) != fail.Conflict {
				t.Errorf("a loser gets %v; want a conflict", err)
			}
		}
		if took != 1 {
			t.Fatalf("%d took one launch", took)
		}
	}
}

func TestDamagedLaunchIsNamed(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	putIn(t, s.launches(), "alice.i.json", []byte("{"))
	_, err := s.TakeLaunch("alice", "i")
	rig.Check(t, err != nil && strings.Contains(err.Error(), s.launches().Path("alice.i.json")), "TakeLaunch = %v; want an error that names the file", err)
}

func TestDropLaunch(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	rig.Must(t, s.DropLaunch("alice"))
	rig.Must(t, s.PutLaunch("alice", Launch{Invocation: "i"}))
	rig.Must(t, s.DropLaunch("ALICE"))
	_, err := s.TakeLaunch("alice", "i")
	storetest.WantKind(t, "after that", err, fail.Conflict)
}
