package lineage

import (
	"testing"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/platform/machine/fake"
	"nbs-worker/internal/platform/tmux"
	"nbs-worker/internal/sim/rig"
)

// A pane whose process tmux has just forked is the launcher's. On Linux, tmux in a pane is what a person runs there.
func TestTmuxInAPaneIsNoLauncherOnLinux(t *testing.T) {
	t.Parallel()
	for _, mac := range []bool{false, true} {
		table := fake.New()
		table.Mac = mac
		table.AddServer(2, fake.Process{Parent: 1})
		table.Add(20, fake.Process{Parent: 2, Name: "tmux", Args: []string{"tmux", "attach"}, Env: []string{"TMUX_PANE=%1"}})
		f := Finder{Machine: table.Machine(), Program: "/usr/bin/nbs-worker"}
		leads := f.Leads(&agent.Process{Invocation: "00000000-0000-4000-8000-000000000001"}, &tmux.Pane{PID: 20})
		rig.Equal(t, leads, mac, "on a Mac %t: it leads", mac)
	}
}
