package changes

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/sim/rig"
)

// A turn's changes are those that were committed since it began, and the files that were written since.
func TestChangesSinceTheLastTurn(t *testing.T) {
	t.Parallel()
	r := newRepo(t)
	tree, alice := r.worktree()
	began := time.Now().Add(-20 * time.Minute)
	old := func(name string) {
		rig.Must(t, os.Chtimes(filepath.Join(tree.dir, name), time.Time{}, began.Add(-time.Minute)))
	}
	tree.write("before.go", "committed before\n")
	tree.commitAt(began.Add(-10*time.Minute), "before")
	tree.write("left.go", "left before\n")
	tree.write("more.go", "left before\n")
	for _, name := range []string{"left.go", ".", "price.go"} {
		old(name)
	}
	report := &agent.Report{Began: began}
	since := func() *Changes {
		c, err := Of(t.Context(), alice, report, Wanted{SinceTurn: true})
		rig.Must(t, err)
		return c
	}
	tree.write("more.go", "left before\nand more\n")
	old(".")
	c := since()
	rig.Equal(t, told(c), "A +2 -0 more.go *", "before a commit")
	patch, err := c.Patch(t.Context())
	rig.Check(t, err == nil && strings.Contains(patch, "+and more") && !strings.Contains(patch, "left.go"), "%s, %v", patch, err)

	tree.git("add", "more.go")
	tree.gitAt(began.Add(time.Minute), "commit", "-q", "-m", "more")
	old("more.go")
	rig.Must(t, os.Remove(filepath.Join(tree.dir, "price.go")))
	c = since()
	rig.Check(t, told(c) == "A +2 -0 more.go; D +0 -3 price.go *" && c.Commits == 1, "after a commit: %s, %d", told(c), c.Commits)

	_, err = Of(t.Context(), alice, &agent.Report{}, Wanted{SinceTurn: true})
	rig.Check(t, fail.KindOf(err) == fail.NotFound && strings.Contains(err.Error(), "last turn began is unknown"), "%v", err)
	report.Began = time.Now().Add(time.Minute)
	c = since()
	patch, err = c.Patch(t.Context())
	rig.Check(t, told(c) == "" && patch == "" && err == nil, "of a turn that has changed nothing: %s, %q, %v", told(c), patch, err)
}
