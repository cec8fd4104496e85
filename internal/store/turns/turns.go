// Package turns makes the user's starts on a machine, in all projects, take turns, with locks in a shared
// folder. Each start uses most of a core until claude is ready; more starts at a time make all of them late.
//
//   - A turn is a lock that names the process that took it. It ends with that process.
//   - A turn spares the machine and protects nothing. If no lock can be taken, the start goes on without
//     one. A turn that a suspended process holds does not count.
//
// The package knows files and no processes: the caller reports the suspended ones.
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

// AtOnce returns how many agents may start on a machine at a time.
func AtOnce() int { return min(4, runtime.NumCPU()) }

// Turns are the turns of one user on this machine.
type Turns struct{ folder private.Tree }

// In returns the turns in a folder.
func In(folder private.Tree) Turns { return Turns{folder} }

// retryEvery is how often a waiting start looks for a turn. A start takes half a second or more.
const retryEvery = 25 * time.Millisecond

// Await takes one of the turns, until release. It calls late once if no turn is free at first. A holder never waits
// without a time limit, so turns come free. A suspended process would keep its turn, so that turn does not count.
// Errors: those of the context.
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

// holder returns the process that took a turn last, or 0 if that is not known.
func (t Turns) holder(name string) (pid int) {
	const enough = 64 // bytes
	text, _ := t.folder.Read(name, enough)
	line, _, _ := strings.Cut(string(text), "\n")
	pid, _ = strconv.Atoi(line)
	return pid
}
