package caller

import (
	"os"
	"testing"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/platform/machine/fake"
	"nbs-worker/internal/sim/rig"
	"nbs-worker/internal/store"
	"nbs-worker/internal/store/trust"
	"nbs-worker/internal/team/observe"
)

// A command with an empty environment stays the agent's when the launcher has ended: also where claude, which has another
// program name, hides its mark, and the command names another registry.
func TestAgentWithAHiddenEnvironmentIsNoPerson(t *testing.T) {
	t.Parallel()
	const started, launcherPID, claudePID, shellPID = "00000000-0000-4000-8000-000000000001", 9, 10, 20
	project := rig.MemoryDir(t)
	opened, err := store.Create(project)
	rig.Must(t, err)
	t.Cleanup(func() { _ = opened.Close() })
	opened.Use(trust.NewKeeper(trust.Home(rig.MemoryDir(t))))
	table := fake.New()
	id := table.Add(claudePID, fake.Process{Parent: 1, Args: []string{"node"}, Folder: project, Env: []string{agent.InvocationVariable + "=" + started}})
	table.Add(shellPID, fake.Process{Parent: claudePID, Args: []string{"sh"}, Folder: project})
	table.Add(os.Getpid(), fake.Process{Parent: shellPID, Args: []string{"nbs-worker", "spawn"}, Folder: project})
	o := &observe.Project{
		Machine: table.Machine(), Store: opened, Program: "/usr/bin/nbs-worker",
		Env: []string{"CLAUDE_CONFIG_DIR=" + rig.MemoryDir(t)},
	}
	unlock, err := opened.LockVerb("alpha", "spawn", table.Boot)
	rig.Must(t, err)
	unlock()
	rig.Must(t, opened.Insert(t.Context(), agent.Record{
		Spec:    agent.Spec{Schema: agent.Schema, Handle: "alpha", SessionID: agent.NewSessionID(), ProjectRoot: project, Cwd: project, MayManage: true},
		Process: &agent.Process{Invocation: started, Identity: id, Launcher: agent.Identified{PID: launcherPID, StartTicks: 90}},
	}))
	found, err := Find(o)
	rig.Must(t, err)
	rig.Check(t, found != nil && found.record.Handle == "alpha" && !found.manages(), "the caller is %+v", found)
	rig.Check(t, found == nil || found.identified == !table.Mac, "it is known by more than it shows: %+v", found)
}

// Any program can have the name of a tmux server. Below a claude it is the claude's, and hides nothing above it.
func TestProgramNamedLikeATmuxServerHidesNoClaude(t *testing.T) {
	t.Parallel()
	dir := rig.MemoryDir(t)
	for parent, person := range map[int]bool{1: true, 10: false} {
		table := fake.New()
		table.Add(1, fake.Process{Args: []string{"init"}, Folder: "/"})
		table.Add(10, fake.Process{Parent: 1, Args: []string{"claude"}, Folder: dir})
		table.Add(20, fake.Process{Parent: parent, Name: "tmux: server", Args: []string{"tmux"}, Folder: dir})
		table.Add(30, fake.Process{Parent: 20, Args: []string{"sh"}, Folder: dir})
		table.Add(os.Getpid(), fake.Process{Parent: 30, Args: []string{"nbs-worker", "spawn"}, Folder: dir})
		found, err := Find(&observe.Project{Machine: table.Machine(), Store: store.Absent(dir), Program: "/usr/bin/nbs-worker"})
		rig.Must(t, err)
		rig.Check(t, (found == nil) == person, "below process %d the caller is %+v", parent, found)
	}
}
