package live

import (
	"os"
	"path/filepath"
	"testing"

	"nbs-worker/internal/agent"

	"nbs-worker/internal/sim/rig"
)

const (
	sessionID = agent.SessionID("4f0c2a53-0d0c-4b43-9e0a-2f6b8f5c9a11")
	otherID   = agent.SessionID("11111111-2222-4333-8444-555555555555")
)

// put writes a file into the registry.
func (r Registry) put(t *testing.T, name, text string) {
	t.Helper()
	path := filepath.Join(r.dir, name)
	rig.Must(t, os.MkdirAll(filepath.Dir(path), 0o700))
	rig.Must(t, os.WriteFile(path, []byte(text), 0o600))
}
