// Package turns has the user's starts on a machine, of all projects, take turns, in a folder that they
// share: each start takes most of a core until claude is ready, and what is started on top of that
// only makes all of them late.
//
//   - A turn is a lock with the process that took it written into it; with that process it ends.
//   - A turn spares the machine and protects nothing: where there can be none, the start goes without,
//     and a suspended process that has one holds nobody up.
//
// The package knows files and no processes: the caller says which are suspended.
package turns

import (
	"context"
	"os"
	"runtime"
	"strconv"
	"strings"
	"time"

	"nbs-worker/internal/platform/clock"
	"nbs-worker/internal/store/private"
)

// AtOnce is how many agents are started on a machine at a time.
func AtOnce() int { return min(4, runtime.NumCPU()) }

// Turns are those of one user on this machine.
type Turns struct{ folder private.Tree }

// In are the turns in a folder.
func In(folder private.Tree) Turns { return Turns{folder} }

// retryEvery is how often a waiting start looks for a turn. A start takes half a second or more.
const retryEvery = 25 * time.Millisecond

// Await takes one of the turns, until release. late is called once when there is none at first. A holder
// never waits without a time limit, so turns come free; that of a suspended process would not, and does
// not count. Errors: those of the context.
func (t Turns) Await(ctx context.Context, suspended func(pid int) bool, late func()) (release func(), err error) {
	for first := true; ; first = false {
		if release, taken := t.try(suspended); taken {
			return release, nil
		}
		if first {
			late()
		}
		if err := clock.Sleep(ctx, retryEvery); err != nil {
			return nil, err
		}
	}
}

// try takes the first turn that is free.
func (t Turns) try(suspended func(pid int) bool) (release func(), taken bool) {
	for n, busy := 0, 0; busy < AtOnce(); n++ {
		name := "start." + strconv.Itoa(n)
		lock, err := t.folder.TryLock(name)
		if err != nil {
			return func() {}, true
		}
		if lock != nil {
			_, _ = lock.WriteString(strconv.Itoa(os.Getpid()) + "\n") // over another's, which may have been longer
			return func() { _ = lock.Close() }, true
		}
		if !suspended(t.holder(name)) {
			busy++
		}
	}
	return nil, false
}

// holder is the process that took a turn last; 0 when that is not known.
func (t Turns) holder(name string) (pid int) {
	const enough = 64 // bytes
	text, _ := t.folder.Read(name, enough)
	line, _, _ := strings.Cut(string(text), "\n")
	pid, _ = strconv.Atoi(line)
	return pid
}
