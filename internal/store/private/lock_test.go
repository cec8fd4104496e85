package private

import (
	"context"
	"errors"
	"os"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"nbs-worker/internal/fail"
	"nbs-worker/internal/store/storetest"

	"nbs-worker/internal/sim/rig"
)

// withLocks is an empty folder of a project that has a place for locks.
func withLocks(t *testing.T) *Folder {
	t.Helper()
	path := t.TempDir()
	storetest.Must(os.Mkdir(path+"/"+Locks, 0o700))
	f, err := OpenFolder(path)
	rig.Must(t, err)
	t.Cleanup(func() { storetest.Must(f.Close()) })
	return f
}

func TestLockExcludes(t *testing.T) {
	t.Parallel()
	f, tree := withLocks(t), Tree(t.TempDir()+"/tree")
	for what, lock := range map[string]func(context.Context) (func(), error){
		"folder": func(ctx context.Context) (func(), error) { return f.Lock(ctx, "x") },
		"tree":   tree.Lock,
	} {
		unlock, err := lock(t.Context())
		if err != nil {
			t.Fatal(what, err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Millisecond)
		defer cancel()
		_, err = lock(ctx)
		storetest.WantKind(t, what, err, fail.Conflict)
		rig.Check(t, len(fail.HintsOf(err)) == 1 && strings.Contains(err.Error(), " stayed locked") && errors.Is(err, ErrStayedLocked), "%s: %v, hints %q", what, err, fail.HintsOf(err))
		unlock()
		if unlock, err = lock(t.Context()); err != nil {
			t.Errorf("%s, let go of: %v", what, err)
		} else {
			unlock()
		}
	}
}

// A queue that moves is waited for to its end, and a holder that stays is named in time; in virtual time.
func TestOnlyAHolderThatStaysIsStuck(t *testing.T) {
	t.Parallel()
	const keeps = 3 * time.Second // on a disk that is very slow
	for what, c := range map[string]struct {
		before int  // how many are to have the lock first
		hangs  bool // the last of them
		most   time.Duration
	}{
		"a free lock":                  {},
		"a hundred, each of them slow": {before: 100, most: 100 * keeps},
		"one who hangs":                {before: 1, hangs: true, most: looks * lookEvery},
		"one who hangs behind others":  {before: 20, hangs: true, most: 19*keeps + (looks+1)*lookEvery},
	} {
		synctest.Test(t, func(t *testing.T) {
			begun, granted := time.Now(), make(chan error, 1)
			var got atomic.Int64 // when the holder got it
			go func() {
				for n := range c.before {
					got.Store(time.Now().UnixNano())
					if c.hangs && n == c.before-1 {
						return
					}
					<-time.After(keeps)
				}
				granted <- nil
			}()
			look := time.NewTicker(lookEvery)
			defer look.Stop()
			given, err := awaitGrant(t.Context(), granted, look.C, func() time.Time { return time.Unix(0, got.Load()) })
			waited := time.Since(begun)
			rig.Check(t, given != c.hangs && errors.Is(err, ErrStayedLocked) == c.hangs && waited <= c.most, "%s: %t, %v after %s", what, given, err, waited)
		})
	}
}

// Whoever gets a lock leaves on its file when that was, for those who wait.
func TestHolderIsSeenByThoseWhoWait(t *testing.T) {
	t.Parallel()
	f, tree := withLocks(t), Tree(t.TempDir()+"/tree")
	long := time.Unix(1, 0)
	for path, lock := range map[string]func(context.Context) (func(), error){
		f.LockPath("x"):        func(ctx context.Context) (func(), error) { return f.Lock(ctx, "x") },
		string(tree) + ".lock": tree.Lock,
	} {
		for range 2 {
			unlock, err := lock(t.Context())
			rig.Must(t, err)
			unlock()
			info, err := os.Stat(path)
			rig.Must(t, err)
			rig.Check(t, info.ModTime().After(long), "%s: taken at %s", path, info.ModTime())
			rig.Must(t, os.Chtimes(path, long, long))
		}
	}
}

func TestOneWhoOnlyTriesDoesNotWait(t *testing.T) {
	t.Parallel()
	f := withLocks(t)
	held, err := f.TryLock("x")
	if held == nil || err != nil {
		t.Fatal(err)
	}
	second, err := f.TryLock("x")
	rig.Check(t, second == nil && err == nil, "it is taken twice: %v", err)
	held()
}

func TestWaitForALockEndsWithTheContext(t *testing.T) {
	t.Parallel()
	f := withLocks(t)
	unlock, err := f.Lock(t.Context(), "x")
	rig.Must(t, err)
	defer unlock()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = f.Lock(ctx, "x")
	rig.Check(t, errors.Is(err, context.Canceled), "%v; want the context's error", err)
}

// Who gave up holds nothing, also when it is granted the lock later.
func TestLockThatWasGivenUpIsFree(t *testing.T) {
	t.Parallel()
	f := withLocks(t)
	unlock, err := f.Lock(t.Context(), "x")
	rig.Must(t, err)
	for range 10 {
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Millisecond)
		_, err := f.Lock(ctx, "x")
		storetest.WantKind(t, "a second", err, fail.Conflict)
		cancel()
	}
	unlock()
	if unlock, err = f.Lock(t.Context(), "x"); err != nil {
		t.Fatal(err)
	}
	unlock()
}

// However eager the others are, each gets a lock within its patience.
func TestNobodyWaitsForALockInVain(t *testing.T) {
	t.Parallel()
	const eager, each = 8, 100
	f := withLocks(t)
	inside, clashes := atomic.Int64{}, atomic.Int64{}
	var all sync.WaitGroup
	for range eager {
		all.Go(func() {
			for range each {
				unlock, err := f.Lock(t.Context(), "x")
				if err != nil {
					t.Error(err)
					return
				}
				clashes.Add(inside.Add(1) - 1)
				runtime.Gosched()
				inside.Add(-1)
				unlock()
			}
		})
	}
	all.Wait()
	n := clashes.Load()
	rig.Check(t, n <= 0, "two had it at once, %d times", n)
}

func TestWhatIsNoLockFileIsNotLocked(t *testing.T) {
	t.Parallel()
	f := withLocks(t)
	storetest.Plant(t, f.LockPath("link"))
	storetest.Must(os.Mkdir(f.LockPath("folder"), 0o700))
	for _, name := range []string{"link", "folder"} {
		_, err := f.Lock(t.Context(), name)
		storetest.WantKind(t, name, err, fail.Failed)
		hints := strings.Join(fail.HintsOf(err), " ")
		rig.Check(t, strings.Contains(hints, "rm -r '"+f.LockPath(name)), "%s: no remedy: %q", name, hints)
		lock, err := f.TryLock(name)
		rig.Check(t, lock == nil && err != nil, "%s: %v", name, err)
	}
}
