package store

import (
	"context"

	"nbs-worker/internal/store/private"
)

// LockFile waits for the lock of a file of the user's outside of every project, which its holders keep for milliseconds.
// Errors: Conflict when the same holder has had it for five seconds.
func LockFile(ctx context.Context, path string) (unlock func(), err error) {
	return private.LockFile(ctx, path)
}
