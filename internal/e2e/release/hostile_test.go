package release

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"nbs-worker/internal/e2e"
	"nbs-worker/internal/sim/rig"
)

// A folder may have any name. The line that puts it into the PATH can be pasted, and nothing is left after an uninstall.
func TestInstallIntoOddlyNamedFolders(t *testing.T) {
	u := newUser(t)
	for _, name := range []string{"a b's", `say "$HOME" \\ ` + "`id`", "-rf", "slash/"} {
		u.prefix = filepath.Join(u.home, name)
		s := u.script("PREFIX=" + name)
		rig.Check(t, s.code == 0 && s.errors == "", "PREFIX=%s: %s", name, s)
		_, line, _ := strings.Cut(s.out, "Put it into your PATH: ")
		line, _, _ = strings.Cut(line, "\n")
		rig.Equal(t, succeeds(t, u.home, "sh", "-c", line+"; command -v nbs-worker"), u.program()+"\n", "after %s", line)
		s = u.script("PREFIX="+name, "PATH="+filepath.Join(u.prefix, "bin")+":"+os.Getenv("PATH"))
		rig.Check(t, !strings.Contains(s.out, "PATH"), "it is in the PATH: %s", s)
		s = u.script("PREFIX="+name, "--uninstall")
		rig.Check(t, s.code == 0 && !e2e.Exists(u.prefix), "uninstall from %s: %s", name, s)
	}
}

// A folder that has the name of a file is in the way, also behind a link. Nothing is changed, and nothing is put into it.
func TestInstallBesideFolders(t *testing.T) {
	u := newUser(t)
	for _, name := range []string{"bin/nbs-worker", "share/man/man1/nbs-worker.1", "share/nbs-worker/installed"} {
		path := filepath.Join(u.prefix, name)
		rig.Must(t, os.MkdirAll(filepath.Dir(path), 0o755))
		other := t.TempDir()
		rig.Must(t, os.Symlink(other, path))
		u.refuses("install " + path + ": a folder has that name; nothing was changed")
		found, err := os.ReadDir(other)
		rig.Check(t, err == nil && len(found) == 0, "%v was written, %v", found, err)
		rig.Must(t, os.Remove(path))
	}
}

// A link in place of the program is replaced; what it points to stays as it is.
func TestInstallReplacesALink(t *testing.T) {
	u := newUser(t)
	other := filepath.Join(u.home, "other")
	rig.Must(t, os.MkdirAll(filepath.Dir(u.program()), 0o755))
	rig.Must(t, os.WriteFile(other, []byte("#!/bin/sh\n"), 0o755))
	rig.Must(t, os.Symlink(other, u.program()))
	u.installs("is installed")
	u.installs("is removed", "--uninstall")
	text, err := os.ReadFile(other)
	rig.Check(t, err == nil && string(text) == "#!/bin/sh\n", "it is %q, %v", text, err)
}

// A proxy that answers with a page of its own is not taken for a release, and neither are sums in another form.
func TestInstallFromWhatIsNoRelease(t *testing.T) {
	u := newUser(t)
	u.refuses("read SHA256SUMS of ", "NBS_RELEASE_URL="+altered(t, "echo '<html>Log in.</html>' >SHA256SUMS"))
	u.refuses("choose a program: ", "NBS_RELEASE_URL="+altered(t, "sed -i 's/$/\\r/' SHA256SUMS"))
	u.refuses("choose a program: ", "NBS_RELEASE_URL="+altered(t, "sed -i 's|  |  ../|' SHA256SUMS"))
	u.refuses("choose a program: ", "NBS_RELEASE_URL="+altered(t, "cat SHA256SUMS SHA256SUMS >s && mv s SHA256SUMS"))
}

// A list that another wrote does not make --uninstall remove what is outside of the prefix; a folder in place of a file
// stays, and the rest goes.
func TestUninstallStaysInThePrefix(t *testing.T) {
	u := newUser(t)
	u.installs("is installed")
	mine, folder := filepath.Join(u.home, "mine"), filepath.Join(u.prefix, "share/fish/vendor_completions.d/nbs-worker.fish")
	rig.Must(t, os.WriteFile(mine, nil, 0o600))
	list, err := os.OpenFile(filepath.Join(u.prefix, "share/nbs-worker/installed"), os.O_APPEND|os.O_WRONLY, 0)
	rig.Must(t, err)
	_, err = list.WriteString("../mine\nshare/../../mine\n")
	rig.Must(t, err)
	rig.Must(t, list.Close())
	rig.Must(t, os.Remove(folder))
	rig.Must(t, os.Mkdir(folder, 0o755))
	u.installs(folder+" stays: it is no file", "--uninstall")
	rig.Check(t, e2e.Exists(mine), "a file outside of the prefix was removed")
	rig.Same(t, "what is left", []string{
		"share/", "share/fish/", "share/fish/vendor_completions.d/", "share/fish/vendor_completions.d/nbs-worker.fish/",
	}, listing(t, u.prefix))
}

// Two that install at once do not disturb each other.
func TestTwoInstallAtOnce(t *testing.T) {
	u := newUser(t)
	for range 3 {
		var both sync.WaitGroup
		said := make([]said, 2)
		for i := range said {
			both.Go(func() { said[i] = u.script() })
		}
		both.Wait()
		for _, s := range said {
			rig.Check(t, s.code == 0 && s.errors == "", "%s", s)
		}
		rig.Check(t, strings.HasPrefix(succeeds(t, u.home, u.program(), "version"), "nbs-worker "+version+" "), "another version is installed")
		u.installs("is removed", "--uninstall")
		rig.Check(t, !e2e.Exists(u.prefix), "%q is left", u.files())
	}
}
