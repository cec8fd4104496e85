package store

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"nbs-worker/internal/sim/rig"
)

// projectAt is a project whose starts take turns in a runtime folder.
func projectAt(t *testing.T, runtime string) *Store {
	t.Helper()
	s, err := own(Create(t.TempDir()))
	rig.Must(t, err)
	t.Cleanup(func() { _ = s.Close() })
	s.RunIn(runtime)
	return s
}

// Two projects of one user share the turns; one that is let go of is the next one's.
func TestStartsOfAllProjectsTakeTurns(t *testing.T) {
	t.Parallel()
	runtime := filepath.Join(t.TempDir(), "nbs-worker")
	alpha, beta := projectAt(t, runtime), projectAt(t, runtime)
	atOnce := func() { t.Error("a turn that is free was waited for") }
	var releases []func()
	for range StartsAtOnce() {
		release, err := alpha.AwaitTurn(t.Context(), nobody, atOnce)
		rig.Must(t, err)
		releases = append(releases, release)
	}
	ctx, cancel := context.WithCancel(t.Context())
	if _, err := beta.AwaitTurn(ctx, nobody, cancel); !errors.Is(err, context.Canceled) {
		t.Errorf("one more turn: %v", err)
	}
	release, err := beta.AwaitTurn(t.Context(), nobody, releases[0])
	rig.Must(t, err)
	release()
	for _, release := range releases[1:] {
		release()
	}
}

// Who was suspended with a turn holds nobody up.
func TestATurnOfWhoIsSuspendedIsNoTurn(t *testing.T) {
	t.Parallel()
	s := projectAt(t, filepath.Join(t.TempDir(), "nbs-worker"))
	atOnce := func() { t.Error("it waits for who is suspended") }
	for range 3 * StartsAtOnce() {
		release, err := s.AwaitTurn(t.Context(), func(pid int) bool { return pid == os.Getpid() }, atOnce)
		rig.Must(t, err)
		defer release()
	}
	ctx, cancel := context.WithCancel(t.Context())
	if _, err := s.AwaitTurn(ctx, nobody, cancel); !errors.Is(err, context.Canceled) {
		t.Errorf("they go on, and it is one more turn: %v", err)
	}
}

func nobody(int) bool { return false }

// Where there is no folder for turns, nobody is kept from starting.
func TestAStartGoesWithoutATurnWhereThereCanBeNone(t *testing.T) {
	t.Parallel()
	s := projectAt(t, "/proc/none")
	for range 2 * StartsAtOnce() {
		if _, err := s.AwaitTurn(t.Context(), nobody, func() { t.Error("it waits") }); err != nil {
			t.Error(err)
		}
	}
}
