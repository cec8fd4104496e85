package turns

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"nbs-worker/internal/sim/rig"
	"nbs-worker/internal/store/private"
	"nbs-worker/internal/store/storetest"
)

func TestMain(m *testing.M) { os.Exit(storetest.Main(m, nil)) }

// Two projects of one user share the turns; one that is let go of is the next one's.
func TestStartsOfAllProjectsTakeTurns(t *testing.T) {
	t.Parallel()
	folder := private.Tree(filepath.Join(t.TempDir(), "starts"))
	alpha, beta := In(folder), In(folder)
	atOnce := func() { t.Error("a turn that is free was waited for") }
	var releases []func()
	for range AtOnce() {
		release, err := alpha.Await(t.Context(), nobody, atOnce)
		rig.Must(t, err)
		releases = append(releases, release)
	}
	ctx, cancel := context.WithCancel(t.Context())
	_, err := beta.Await(ctx, nobody, cancel)
	rig.Check(t, errors.Is(err, context.Canceled), "one more turn: %v", err)
	release, err := beta.Await(t.Context(), nobody, releases[0])
	rig.Must(t, err)
	release()
	for _, release := range releases[1:] {
		release()
	}
}

// Who was suspended with a turn holds nobody up.
func TestATurnOfWhoIsSuspendedIsNoTurn(t *testing.T) {
	t.Parallel()
	turns := In(private.Tree(filepath.Join(t.TempDir(), "starts")))
	atOnce := func() { t.Error("it waits for who is suspended") }
	for range 3 * AtOnce() {
		release, err := turns.Await(t.Context(), func(pid int) bool { return pid == os.Getpid() }, atOnce)
		rig.Must(t, err)
		defer release()
	}
	ctx, cancel := context.WithCancel(t.Context())
	_, err := turns.Await(ctx, nobody, cancel)
	rig.Check(t, errors.Is(err, context.Canceled), "they go on, and it is one more turn: %v", err)
}

func nobody(int) bool { return false }

// Where there is no folder for turns, nobody is kept from starting.
func TestAStartGoesWithoutATurnWhereThereCanBeNone(t *testing.T) {
	t.Parallel()
	turns := In("/proc/none/starts")
	for range 2 * AtOnce() {
		_, err := turns.Await(t.Context(), nobody, func() { t.Error("it waits") })
		rig.Check(t, err == nil, "%v", err)
	}
}
