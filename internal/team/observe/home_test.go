package observe

import (
	"path/filepath"
	"testing"

	"nbs-worker/internal/store"
	userstrust "nbs-worker/internal/store/trust"
)

// use gives a store a user's key and the test's own folders.
func use(t *testing.T, opened *store.Store) {
	t.Helper()
	opened.Use(userstrust.NewKeeper(userstrust.Home(filepath.Join(t.TempDir(), "state"))))
}
