package observe

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/claude/live"
	"nbs-worker/internal/platform/machine/fake"
	"nbs-worker/internal/sim/rig"
	"nbs-worker/internal/store"
	"nbs-worker/internal/store/storetest"
)

// After a resume, Claude's registry may go on to name the recorded folder although claude works in its worktree.
func TestWhoIsOutOfItsWorktree(t *testing.T) {
	t.Parallel()
	project, config, worktree := t.TempDir(), t.TempDir(), t.TempDir()
	sessions := filepath.Join(config, "projects", "p")
	rig.Must(t, os.MkdirAll(sessions, 0o700))
	entered := fmt.Sprintf(`{"type":"worktree-state","worktreeSession":{"worktreePath":%q,"originalCwd":%q}}`+"\n", worktree, project)
	back := fmt.Sprintf(`{"type":"relocated","relocatedCwd":%q}`+"\n", project)
	for what, c := range map[string]struct{ transcript, registry, process, worksIn, outOf string }{
		"it went back": {entered, worktree, worktree, worktree, ""},
		"it went back, and the registry is stale": {entered, project, worktree, worktree, ""},
		"it did not go back":                      {entered, project, project, "", worktree},
		"a person took it back by /cd":            {entered + back, project, project, "", ""},
		"it has never entered one":                {"{}\n", project, project, "", ""},
		"its folder is gone":                      {entered, project, filepath.Join(worktree, "gone"), "", ""},
	} {
		rig.Must(t, os.WriteFile(filepath.Join(sessions, string(storetest.AliceID)+".jsonl"), []byte(c.transcript), 0o600))
		table := fake.New()
		claude := table.Add(10, fake.Process{Parent: 1, Args: []string{"claude"}, Folder: c.process})
		o := &Project{Machine: table.Machine(), Store: store.Absent(project)}
		r := agent.Record{
			Spec:    agent.Spec{Schema: agent.Schema, Handle: "alpha", SessionID: storetest.AliceID, ProjectRoot: project, Cwd: project, ConfigDir: config},
			Process: &agent.Process{Identity: claude},
		}
		sight := Sight{Record: r, Status: agent.Status{State: agent.Idle, Source: agent.FromRegistry}, WorksIn: o.worksIn(&r, &live.Entry{Cwd: c.registry})}
		rig.Equal(t, sight.WorksIn, c.worksIn, "%s: works in", what)
		rig.Equal(t, o.OutOfWorktree(&sight), c.outOf, "%s: out of", what)
	}
}
