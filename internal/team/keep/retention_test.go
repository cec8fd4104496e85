package keep

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/store"
	"nbs-worker/internal/store/archive"
	"nbs-worker/internal/store/trust"
	"nbs-worker/internal/team/observe"

	"nbs-worker/internal/platform/machine/local"
	"nbs-worker/internal/sim/rig"
)

// How near its end a transcript is, by the settings that hold, and whether ours is there.
func TestRetention(t *testing.T) {
	t.Parallel()
	project, config := t.TempDir(), t.TempDir()
	opened, err := store.Create(project)
	rig.Must(t, err)
	opened.Use(trust.NewKeeper(trust.Home(filepath.Join(t.TempDir(), "state"))))
	defer opened.Close()
	opened.Use(trust.NewKeeper(trust.Home(t.TempDir())))
	settings := filepath.Join(config, "settings.json")
	write(t, settings, `{"cleanupPeriodDays":20}`)
	now := time.Now()
	ids := map[agent.Handle]agent.SessionID{}
	for _, handle := range []agent.Handle{"gone", "kept", "old", "unspoken"} {
		ids[handle] = agent.NewSessionID()
		unlock, err := opened.LockVerb(handle, "spawn", now)
		rig.Must(t, err)
		unlock()
		r := agent.Record{Spec: agent.Spec{Schema: agent.Schema, Handle: handle, SessionID: ids[handle], ProjectRoot: project, ConfigDir: config}}
		rig.Must(t, opened.Insert(t.Context(), r))
		path := filepath.Join(config, "projects", "-p", string(ids[handle])+".jsonl")
		if handle == "unspoken" {
			continue
		}
		write(t, path, "{}\n")
		age := now.Add(-19 * 24 * time.Hour)
		rig.Must(t, os.Chtimes(path, age, age))
		if handle != "old" {
			rig.Must(t, opened.Archive().Keep(t.Context(), ids[handle], path))
		}
		if handle == "gone" {
			rig.Must(t, os.Remove(path))
		}
	}
	k := &Keeper{Project: &observe.Project{Machine: local.New(), Store: opened, Now: func() time.Time { return now }}}
	want := map[agent.Handle]archive.Freshness{"gone": archive.OnlyCopy, "kept": archive.Linked, "old": archive.NotKept, "unspoken": archive.NotKept}
	for handle := range ids {
		r, err := opened.Load(handle)
		rig.Must(t, err)
		there := handle == "kept" || handle == "old"
		got, err := k.RetentionOf(&r)
		if err != nil || got.Kept != want[handle] || got.Settings != settings || (got.Path != "") != there || there && (got.LeftDays < 0.9 || got.LeftDays > 1.1) {
			t.Errorf("%s: %+v, %v", handle, got, err)
		}
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	rig.Must(t, os.MkdirAll(filepath.Dir(path), 0o700))
	rig.Must(t, os.WriteFile(path, []byte(text), 0o600))
}
