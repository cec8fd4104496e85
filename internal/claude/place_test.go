package claude

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/sim/rig"
)

func TestRestorePath(t *testing.T) {
	t.Parallel()
	config := newConfig(t)
	cwd := filepath.Join(t.TempDir(), "a.b_c dé")
	for folder, want := range map[string]string{
		"-srv-project": "-srv-project",
		"":             strings.NewReplacer("/", "-", ".", "-", "_", "-", " ", "-", "é", "-").Replace(cwd),
	} {
		path, err := config.RestorePath(sessionID, folder, cwd)
		rig.Check(t, err == nil && path == filepath.Join(config.projects(), want, string(sessionID)+".jsonl"), "%q: %s, %v", folder, path, err)
		info, err := os.Stat(filepath.Dir(path))
		rig.Check(t, err == nil && info.Mode().Perm() == 0o700, "%q: %v, %v", folder, info, err)
	}
}

func TestClearPlace(t *testing.T) {
	t.Parallel()
	config := newConfig(t)
	rig.Must(t, config.ClearPlace(sessionID))
	config.putTranscript(t, metaLine)
	rig.Must(t, config.ClearPlace(sessionID))
	config.putTranscript(t, userLine)
	err := config.ClearPlace(sessionID)
	wantKind(t, "spoken", err, agent.Conflict)
	rig.Check(t, err != nil && strings.Contains(err.Error(), string(sessionID)), "%v", err)
}

func TestStubIsSetAsideAndNotLost(t *testing.T) {
	t.Parallel()
	for what, text := range map[string]string{"a stub": metaLine, "an empty one": ""} {
		c := newConfig(t)
		rig.Must(t, c.SetStubAside(sessionID))
		stub := c.putTranscript(t, text)
		rig.Must(t, c.SetStubAside(sessionID))
		if _, found, err := c.Transcript(sessionID); found || err != nil {
			t.Errorf("%s is still found: %v", what, err)
		}
		kept, err := os.ReadFile(stub.Path + ".unspoken")
		rig.Check(t, string(kept) == text && err == nil, "%s is lost: %q, %v", what, kept, err)
	}
}

func TestConversationIsNeverSetAside(t *testing.T) {
	t.Parallel()
	c := newConfig(t)
	before := c.putTranscript(t, metaLine, userLine)
	rig.Must(t, c.SetStubAside(sessionID))
	after, found, err := c.Transcript(sessionID)
	rig.Check(t, found && after == before && err == nil, "the conversation is %+v, %t, %v", after, found, err)
}
