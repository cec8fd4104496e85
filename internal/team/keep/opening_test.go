package keep

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/claude"
	"nbs-worker/internal/claude/cmdline"
	"nbs-worker/internal/store"
	"nbs-worker/internal/store/trust"
	"nbs-worker/internal/team/observe"

	"nbs-worker/internal/platform/machine/local"
	"nbs-worker/internal/sim/rig"
)

// A transcript that is gone is resumed from the archive beside a folder that another user has closed, unless
// it may be in that folder: then nothing is put in its place.
func TestOpeningBesideAClosedFolder(t *testing.T) {
	t.Parallel()
	rig.NeedsRoot(t)
	opened, err := store.Create(rig.MemoryDir(t))
	rig.Must(t, err)
	defer opened.Close()
	opened.Use(trust.NewKeeper(trust.Home(t.TempDir())))
	dir := t.TempDir()
	config, err := claude.ConfigAt(dir)
	rig.Must(t, err)
	closed, own := filepath.Join(dir, "projects", "-closed"), filepath.Join(dir, "projects", "-own")
	rig.Must(t, os.MkdirAll(closed, 0o700))
	k := &Keeper{Project: &observe.Project{Machine: local.New(), Store: opened, Now: time.Now}}
	seen := func(folder string) *agent.Record {
		id := agent.NewSessionID()
		path := filepath.Join(folder, string(id)+".jsonl")
		write(t, path, `{"type":"user","uuid":"1","sessionId":"`+string(id)+`","message":{"role":"user","content":"hello"}}`+"\n")
		rig.Must(t, opened.Archive().Keep(t.Context(), id, path))
		return &agent.Record{Spec: agent.Spec{Handle: "alpha", SessionID: id}, TranscriptSeen: time.Now()}
	}
	hidden, removed := seen(closed), seen(own)
	rig.Must(t, os.RemoveAll(own))
	rig.Must(t, os.Chown(closed, rig.Nobody, -1))
	rig.AsPlainUser(t, func() {
		opening, kept, err := k.Opening(removed, config, false)
		rig.Check(t, opening == cmdline.OpenResume && kept != nil && err == nil, "the removed one: %q, %v, %v", opening, kept, err)
		_, kept, err = k.Opening(hidden, config, false)
		rig.Check(t, kept == nil && errors.Is(err, claude.ErrClosed), "the hidden one: %v, %v", kept, err)
	})
}
