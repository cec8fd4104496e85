package release

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"nbs-worker/internal/sim/rig"
)

// lintian says nothing of the packages, neither as an error nor as a remark.
func TestLintian(t *testing.T) {
	t.Parallel()
	rig.Needs(t, "lintian")
	for _, arch := range []string{"amd64", "arm64"} {
		out := succeeds(t, release(t), "lintian", "--allow-root", "--display-info", "--display-experimental", "--pedantic",
			"--fail-on", "error,warning,info,pedantic", "nbs-worker_"+version+"_"+arch+".deb")
		rig.Equal(t, out, "", "lintian of %s", arch)
	}
}

// machines are the names that rpm has for the architectures.
var machines = map[string]string{"amd64": "x86_64", "arm64": "aarch64"}

// The packages for both architectures have the same files, and those of the rpm are those of the deb.
func TestPackagesHaveTheSameFiles(t *testing.T) {
	t.Parallel()
	rig.Needs(t, "rpm")
	rpms, debs := map[string][]string{}, map[string][]string{}
	for arch, machine := range machines {
		for line := range strings.Lines(succeeds(t, release(t), "rpm", "-qlvp", "nbs-worker-"+version+"-1."+machine+".rpm")) {
			if fields := strings.Fields(line); fields[0][0] == '-' {
				rpms[arch] = append(rpms[arch], fields[0]+" "+fields[len(fields)-1])
			}
		}
		for line := range strings.Lines(succeeds(t, release(t), "dpkg-deb", "-c", "nbs-worker_"+version+"_"+arch+".deb")) {
			if fields := strings.Fields(line); fields[0][0] == '-' {
				debs[arch] = append(debs[arch], fields[0]+" "+strings.TrimPrefix(fields[len(fields)-1], "."))
			}
		}
	}
	rig.Same(t, "rpm", rpms["amd64"], rpms["arm64"])
	rig.Same(t, "deb", debs["amd64"], debs["arm64"])
	common := func(all []string) (rest []string) {
		for _, name := range all {
			if !strings.Contains(name, "/zsh/") && !strings.Contains(name, "/doc/") && !strings.Contains(name, "/lintian/") {
				rest = append(rest, name)
			}
		}
		slices.Sort(rest)
		return rest
	}
	rig.Same(t, "rpm and deb", common(debs["amd64"]), common(rpms["amd64"]))
	rig.Check(t, len(rpms["amd64"]) > 50, "the rpm has %q", rpms["amd64"])
}

// rpm refuses where tmux is missing. What it installs runs, and is gone when the package is removed.
func TestRPM(t *testing.T) {
	t.Parallel()
	rig.NeedsRoot(t)
	rig.Needs(t, "rpm")
	root := rig.ShortDir(t)
	for _, dir := range []string{"usr/bin", "usr/share/man/man1", "usr/share/doc", "var/lib/rpm", "var/tmp"} { // of any system
		rig.Must(t, os.MkdirAll(filepath.Join(root, dir), 0o755))
	}
	rpm := func(args ...string) (string, error) {
		out, err := exec.Command("rpm", append([]string{"--root", root, "--dbpath", "/var/lib/rpm"}, args...)...).CombinedOutput()
		return string(out), err
	}
	out, err := rpm("--initdb")
	rig.Check(t, err == nil, "rpm --initdb: %v, %s", err, out)
	first := withoutDatabase(t, root)
	file := filepath.Join(release(t), "nbs-worker-"+version+"-1."+machines[runtime.GOARCH]+".rpm")
	out, err = rpm("--install", file)
	rig.Check(t, err != nil && strings.Contains(out, "tmux >= 3.2 is needed by nbs-worker-"+version), "rpm --install: %v, %s", err, out)

	out, err = rpm("--install", "--nodeps", file)
	rig.Check(t, err == nil, "rpm --install: %v, %s", err, out)
	rig.Check(t, strings.HasPrefix(succeeds(t, root, "usr/bin/nbs-worker", "version"), "nbs-worker "+version+" "), "another version")
	out, err = rpm("--verify", "--nodeps", "nbs-worker")
	rig.Check(t, err == nil && out == "", "rpm --verify: %v, %s", err, out)
	out, err = rpm("--erase", "nbs-worker")
	rig.Check(t, err == nil, "rpm --erase: %v, %s", err, out)
	rig.Same(t, "after the removal", first, withoutDatabase(t, root))
}

func withoutDatabase(t *testing.T, root string) (rest []string) {
	t.Helper()
	for _, name := range listing(t, root) {
		if !strings.HasPrefix(name, "var/lib/rpm/") {
			rest = append(rest, name)
		}
	}
	return rest
}
