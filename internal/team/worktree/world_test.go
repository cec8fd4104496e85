package worktree

import (
	"bytes"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"nbs-worker/internal/platform/git"
	"nbs-worker/internal/platform/machine/local"
	"nbs-worker/internal/sim/rig"
)

func TestMain(m *testing.M) {
	if role := rig.Role(); role != nil {
		os.Exit(play(role))
	}
	os.Exit(rig.Tight(m))
}

// world is a repository with a remote one, and the tree of alice.
type world struct {
	*testing.T
	dir    string
	tree   Tree
	checks int // that nothing is lost
}

func newWorld(t *testing.T) *world {
	t.Helper()
	rig.Needs(t, "git")
	w := &world{T: t, dir: rig.MemoryDir(t)}
	w.put("project/a.txt", "a\n")
	w.put("project/crlf.txt", "one\r\ntwo\r\n")
	w.put("project/.gitignore", "*.env\nbuild/\nnode_modules\n")
	w.put("project/.gitattributes", "crlf.txt text\n")
	w.git("project", "init", "-q")
	w.git("project", "add", "-A")
	w.git("project", "commit", "-qm", "first")
	w.git(".", "clone", "-q", "--bare", "project", "remote.git")
	w.git("project", "remote", "add", "origin", w.dir+"/remote.git")
	w.git("project", "fetch", "-q", "origin")
	w.put("project/secret.env", "KEY=1\n")
	w.put("project/.worktreeinclude", "*.env\n")
	w.git("project", "add", ".worktreeinclude")
	w.git("project", "commit", "-qm", "second")
	w.tree = w.made(Wanted{}).Tree
	return w
}

func (w *world) plan(wanted Wanted) (Plan, error) {
	wanted.Handle, wanted.Project = "alice", w.dir+"/project"
	return NewPlan(w.Context(), wanted)
}

// made makes a tree and sets it up.
func (w *world) made(wanted Wanted) Plan {
	w.Helper()
	p, err := w.plan(wanted)
	rig.Must(w, err)
	rig.Must(w, p.Make(w.Context()))
	_, err = p.Copy(w.Context())
	rig.Must(w, err)
	return p
}

func (w *world) git(at string, args ...string) string {
	w.Helper()
	cmd := exec.Command("git", append([]string{"-c", "user.name=a", "-c", "user.email=a@b", "-c", "init.defaultBranch=main", "-c", "protocol.file.allow=always"}, args...)...)
	cmd.Dir = w.at(at)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + w.dir}
	said, err := cmd.CombinedOutput()
	if err != nil {
		w.Fatalf("git %v: %v: %s", args, err, said)
	}
	return strings.TrimSpace(string(said))
}

// at returns a path: in the tree for "tree/...", else below the folder of the test.
func (w *world) at(path string) string {
	if rest, is := strings.CutPrefix(path, "tree"); is {
		return w.tree.Path + rest
	}
	return filepath.Join(w.dir, path)
}

func (w *world) put(path, text string) {
	w.Helper()
	path = w.at(path)
	rig.Must(w, os.MkdirAll(filepath.Dir(path), 0o700))
	rig.Must(w, os.WriteFile(path, []byte(text), 0o600))
}

func (w *world) commit(name, text string) {
	w.Helper()
	w.put("tree/"+name, text)
	w.git("tree", "add", name)
	w.git("tree", "commit", "-qm", name)
}

// contents returns the files of a tree by their names, and the targets of its links.
func (w *world) contents(path string) map[string]string {
	w.Helper()
	all := map[string]string{}
	rig.Must(w, filepath.WalkDir(path, func(at string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || at == filepath.Join(path, gitLink) {
			return err
		}
		name, _ := filepath.Rel(path, at)
		if d.Type()&fs.ModeSymlink != 0 {
			all[name], err = os.Readlink(at)
			return err
		}
		if !d.Type().IsRegular() {
			return nil
		}
		text, err := os.ReadFile(at)
		all[name] = string(text)
		return err
	}))
	return all
}

func (w *world) removal() *Removal {
	return &Removal{Tree: w.tree, Machine: local.New(), Others: func() []Obstacle { return nil }, Now: time.Now()}
}

func (w *world) wish() Wish { return Wish{Handle: "alice", Project: w.at("project"), Now: time.Now()} }

func (w *world) remove() (Removed, error) { return w.removal().Remove(w.Context()) }

// keptBytes returns what is kept of a file; "" and false if nothing is.
func (w *world) keptBytes(name string) (all []string) {
	w.Helper()
	kept, _ := KeptTrees(w.Context(), w.tree.Common, "alice") // none of a damaged repository
	for _, k := range kept {
		var out bytes.Buffer
		if git.Dir(w.tree.Common).Pipe(w.Context(), nil, &out, "cat-file", "blob", k.Ref+":"+name) == nil {
			all = append(all, out.String())
		}
	}
	return all
}

// mustHave checks that each file is in the tree, wherever it is, or is kept.
func (w *world) mustHave(files map[string]string, places ...string) {
	w.Helper()
	for name, text := range files {
		found := false
		for _, place := range append(places, w.tree.Path) {
			if here, err := os.ReadFile(filepath.Join(place, name)); err == nil && string(here) == text {
				found = true
			}
			if target, err := os.Readlink(filepath.Join(place, name)); err == nil && target == text {
				found = true
			}
		}
		for _, kept := range w.keptBytes(name) {
			found = found || kept == text
		}
		rig.Check(w, found, "%s is lost: %q", name, text)
	}
}

// mustReach checks that a commit is in a branch, a remote one or a kept one.
func (w *world) mustReach(commit string) {
	w.Helper()
	refs := w.git("project", "for-each-ref", "--contains", commit)
	rig.Check(w, refs != "", "the commit %s is lost", commit)
}
