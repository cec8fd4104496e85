// Package parallel runs many small calls at once.
package parallel

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// Each calls do for each i from 0 to n-1, on all processors, and returns when all calls have.
func Each(n int, do func(i int)) {
	var next atomic.Int64
	var workers sync.WaitGroup
	for range min(n, runtime.GOMAXPROCS(0)) {
		workers.Go(func() {
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				do(i)
			}
		})
	}
	workers.Wait()
}
