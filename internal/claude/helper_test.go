package claude

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/claude/transcript"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/sim/rig"
)

func TestMain(m *testing.M) { os.Exit(rig.Tight(m)) }

const (
	sessionID = agent.SessionID("4f0c2a53-0d0c-4b43-9e0a-2f6b8f5c9a11")
	otherID   = agent.SessionID("11111111-2222-4333-8444-555555555555")
)

func someTime() time.Time { return time.Date(2026, 2, 20, 11, 44, 7, 0, time.UTC) }

// newConfig is a configuration folder of the test's own, empty.
func newConfig(t *testing.T) Config {
	t.Helper()
	config, err := ConfigAt(t.TempDir())
	rig.Must(t, err)
	return config
}

// put writes a file below the configuration folder and returns its path.
func (c Config) put(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(c.dir, name)
	rig.Must(t, os.MkdirAll(filepath.Dir(path), 0o700))
	rig.Must(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

// putTranscript writes the transcript of sessionID and returns it as it is found.
func (c Config) putTranscript(t *testing.T, lines ...string) transcript.File {
	t.Helper()
	c.put(t, "projects/-srv-project/"+string(sessionID)+".jsonl", strings.Join(lines, ""))
	file, found, err := c.Transcript(sessionID)
	if err != nil || !found {
		t.Fatalf("the transcript is not found: %v", err)
	}
	return file
}

// Lines of a transcript, as Claude Code writes them, less what is not used.
const (
	metaLine = `{"type":"permission-mode","permissionMode":"manual","sessionId":"4f0c2a53-0d0c-4b43-9e0a-2f6b8f5c9a11"}` + "\n" +
		`{"type":"file-history-snapshot","messageId":"m","snapshot":{"trackedFileBackups":{}}}` + "\n"
	userLine = `{"parentUuid":null,"isSidechain":false,"type":"user","message":{"role":"user","content":"Remember 42."},` +
		`"cwd":"/srv/project","version":"2.1.329","sessionId":"4f0c2a53-0d0c-4b43-9e0a-2f6b8f5c9a11"}` + "\n"
	sidechainLine = `{"isSidechain":true,"type":"user","message":{"role":"user","content":"Look around."},"cwd":"/srv/project"}` + "\n"
)

func wantKind(t *testing.T, what string, err error, want fail.Kind) {
	t.Helper()
	rig.Check(t, err != nil && fail.KindOf(err) == want, "%s: %v (kind %d); want kind %d", what, err, fail.KindOf(err), want)
}
