package worktree

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"nbs-worker/internal/fail"
	"nbs-worker/internal/sim/rig"
)

// What is linked is the main tree's own, stands in the way of nothing, and is no obstacle to a removal.
func TestLinks(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.put("project/node_modules/x/y.js", "y\n")
	w.put("project/cache/big", "b\n")
	names := []string{"node_modules", "cache/big"}
	p, err := w.plan(Wanted{})
	rig.Must(t, err)
	for range 2 { // again, as after a kill
		rig.Must(t, p.CheckLinks(names))
		rig.Must(t, p.Link(names))
	}
	target, err := os.Readlink(w.at("tree/cache/big"))
	rig.Check(t, err == nil && target == w.at("project/cache/big"), "%s, %v", target, err)
	text, err := os.ReadFile(w.at("tree/node_modules/x/y.js"))
	rig.Check(t, err == nil && string(text) == "y\n", "%s, %v", text, err)
	dirt, err := w.tree.dirt(t.Context())
	rig.Check(t, err == nil && len(dirt) == 0, "%v, %v", dirt, err)

	err = p.CheckLinks([]string{"none"})
	rig.Check(t, fail.KindOf(err) == fail.NotFound, "%v", err)
	for _, name := range []string{"../project", ".git/config", "/etc"} {
		rig.Check(t, fail.KindOf(p.CheckLinks([]string{name})) == fail.BadInput, "%s is taken", name)
	}
	err = p.Link([]string{"a.txt"})
	rig.Check(t, fail.KindOf(err) == fail.Conflict && w.contents(w.tree.Path)["a.txt"] == "a\n", "%v", err)
}

// A setup program runs in the tree, without a shell. What it says is in its log, and the tree stays when it fails.
func TestSetup(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p, err := w.plan(Wanted{})
	rig.Must(t, err)
	env := []string{"PATH=" + os.Getenv("PATH"), "WORD=x y"}
	program := w.at("bin/setup")
	w.put("bin/setup", "#!/bin/sh\necho \"$@\" $WORD >made.txt\n")
	rig.Must(t, os.Chmod(program, 0o700))
	rig.Must(t, p.Setup(t.Context(), []string{program, "a  b", "$(id)"}, env))
	rig.Equal(t, w.contents(w.tree.Path)["made.txt"], "a  b $(id) x y\n", "what it has made")

	err = p.Setup(t.Context(), []string{"sh", "-c", "echo first; echo '  no network' >&2; exit 3"}, env)
	log := strings.Trim(strings.TrimPrefix(strings.Join(fail.HintsOf(err)[:1], ""), "its log: "), "'")
	rig.Check(t, fail.KindOf(err) == fail.Failed && strings.Contains(err.Error(), `exit status 3, it said "no network"`), "%v", err)
	text, err := os.ReadFile(log)
	rig.Check(t, err == nil && string(text) == "first\n  no network\n", "%q, %v", text, err)
	rig.Check(t, w.contents(w.tree.Path)["made.txt"] != "", "the tree stays")

	held, err := openLog(log)
	rig.Must(t, err)
	err = p.Setup(t.Context(), []string{"true"}, env)
	rig.Check(t, fail.KindOf(err) == fail.Conflict && strings.Contains(err.Error(), "still runs"), "%v", err)
	rig.Must(t, held.Close())

	w.put("project/setup", "#!/bin/sh\n")
	rig.Must(t, os.Chmod(w.at("project/setup"), 0o700))
	rig.Must(t, os.Symlink("/bin/true", w.at("project/link")))
	rig.Must(t, os.Symlink(w.at("project/setup"), w.at("bin/link")))
	for _, inside := range []string{"project/setup", "project/link", "bin/link"} {
		_, err := p.SetupProgram([]string{w.at(inside)})
		rig.Check(t, fail.KindOf(err) == fail.BadInput && strings.Contains(err.Error(), "where agents write"), "%s: %v", inside, err)
	}
	_, err = p.SetupProgram([]string{filepath.Join(w.dir, "none")})
	rig.Check(t, fail.KindOf(err) == fail.NotFound, "%v", err)
}
