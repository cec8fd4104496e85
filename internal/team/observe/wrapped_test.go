package observe

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/platform/machine/fake"
	"nbs-worker/internal/sim/rig"
	"nbs-worker/internal/store"
	"nbs-worker/internal/store/storetest"
)

// A claude that a wrapper has started is no stranger to its agent, also where its mark is hidden. One that a person has
// started on the same conversation is.
func TestWrappedClaudeIsNoStranger(t *testing.T) {
	t.Parallel()
	const started, launcherPID, wrapperPID, claudePID, otherPID = "00000000-0000-4000-8000-000000000001", 9, 10, 11, 30
	project, config := t.TempDir(), t.TempDir()
	table := fake.New()
	mark := []string{agent.InvocationVariable + "=" + started}
	launcher := table.Add(launcherPID, fake.Process{Parent: 2, Args: []string{"nbs-worker", "run", "alpha"}, Program: "/usr/bin/nbs-worker", Folder: project})
	wrapper := table.Add(wrapperPID, fake.Process{Parent: launcherPID, Args: []string{"sh", "wrapper"}, Env: mark, Folder: project})
	wrapped := table.Add(claudePID, fake.Process{Parent: wrapperPID, Args: []string{"claude"}, Env: mark, Folder: project})
	other := table.Add(otherPID, fake.Process{Parent: 1, Args: []string{"claude"}, Folder: project})
	rig.Must(t, os.Mkdir(filepath.Join(config, "sessions"), 0o700))
	for _, id := range []agent.Identity{wrapped, other} {
		entry := fmt.Sprintf(`{"pid":%d,"sessionId":%q,"cwd":%q,"procStart":%q}`, id.PID, storetest.AliceID, project, table.Registered(id))
		rig.Must(t, os.WriteFile(filepath.Join(config, "sessions", fmt.Sprint(id.PID, ".json")), []byte(entry), 0o600))
	}
	o := &Project{Machine: table.Machine(), Store: store.Absent(project), Program: "/usr/bin/nbs-worker"}
	found, err := o.Strangers(&agent.Record{
		Spec:    agent.Spec{Schema: agent.Schema, Handle: "alpha", SessionID: storetest.AliceID, ProjectRoot: project, Cwd: project, ConfigDir: config},
		Process: &agent.Process{Invocation: started, Identity: wrapper, Launcher: launcher.Identified},
	})
	rig.Must(t, err)
	rig.Same(t, "the strangers", []Stranger{{PID: otherPID, Cwd: project}}, found)
}
