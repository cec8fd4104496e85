// Package parallel does many small things at once.
package parallel

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// Each calls do with each number below n, on all processors, and returns when all is done.
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
