package cli

import (
	"os"
	"testing"

	"golang.org/x/sys/unix"

	"nbs-worker/internal/app/cli/ui"
	"nbs-worker/internal/app/cli/ui/uitest"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/sim/rig"
)

// fullDisk is a stdout that takes nothing.
type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, unix.ENOSPC }

// What cannot be printed is an error of the verb, and no bad argument.
func TestStdoutOnAFullDisk(t *testing.T) {
	t.Parallel()
	project := newProject(t, uitest.Record("alpha"))
	for _, verb := range []string{"list", "session", "triage", "cost", "version", "schema", "worktree", "project"} {
		args := map[string][]string{"session": {"alpha"}, "worktree": {"list"}, "project": {"list"}}[verb]
		for _, flags := range [][]string{nil, {"--json"}} {
			if verb == "worktree" && flags == nil || verb == "schema" && flags != nil {
				continue // it prints nothing, or is JSON
			}
			line := append(append([]string{"--root", project, verb}, args...), flags...)
			r := runOn(ui.Streams{Out: fullDisk{}}, line...).want(t, fail.Failed, verb, "no space left on device")
			rig.Check(t, r.out == "", "%s", r.out)
		}
	}
}

// An agent whose record cannot be read may have a budget: cost says that it does not know it, and keeps the agent's line.
func TestCostOfADamagedRecord(t *testing.T) {
	t.Parallel()
	project := newProject(t, uitest.Record("alpha"))
	damage(t, project, "beta")
	r := run("--root", project, "cost").want(t, fail.Partial, "cost beta", "is damaged")
	rig.Equal(t, r.out, "alpha\t0.00\t0.00\t-\nbeta\t0.00\t0.00\t-\nall\t0.00\t0.00\t-\n", "the costs")
}

// A follower ends with its reader, and not only with its next line, which may never come: in a script, what stands behind
// "logs --follow | grep -m1 done" would wait for it.
func TestFollowersEndWithTheirReader(t *testing.T) {
	t.Parallel()
	project := newProject(t, uitest.Record("alpha"))
	for _, verb := range [][]string{{"events", "--follow"}, {"logs", "alpha", "--follow"}} {
		read, write, err := os.Pipe()
		rig.Must(t, err)
		defer write.Close()
		ended := make(chan ran, 1)
		go func() { ended <- runOn(ui.Streams{Out: write}, append([]string{"--root", project}, verb...)...) }()
		rig.Must(t, read.Close())
		select {
		case r := <-ended:
			r.want(t, fail.Interrupted)
		case <-rig.Patient(t).Done():
			t.Fatalf("%v goes on", verb)
		}
	}
}
