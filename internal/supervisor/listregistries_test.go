package supervisor

import (
	"errors"
	"os"
	"testing"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/proc"
)

// Each agent may have a configuration of its own, and there may be no registry in it.
func TestManyRegistries(t *testing.T) {
	t.Parallel()
	self, err := proc.Self()
	if err != nil {
		t.Fatal(err)
	}
	all := &registries{supervisor: &Supervisor{}}
	defer all.close()
	for range mostRegistries + 5 {
		r := agent.Record{
			Schema: agent.Schema, SessionID: agent.NewSessionID(), PID: self.PID, ConfigDir: t.TempDir(),
			Process: &agent.Process{Identity: self},
		}
		if _, err := all.entry(&r); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("without a registry: %v", err)
		}
		register(t, r, "idle", time.Now()) // it comes with the first claude
		for range 2 {
			if live, err := all.entry(&r); err != nil || live.SessionID != r.SessionID {
				t.Errorf("%+v, %v; want %s", live, err, r.SessionID)
			}
		}
		r.Process = &agent.Process{Identity: self}
		r.Process.StartTicks++
		if live, err := all.entry(&r); err == nil {
			t.Errorf("that of another process: %+v", live)
		}
	}
	if len(all.opened) != mostRegistries {
		t.Errorf("%d are open", len(all.opened))
	}
}
