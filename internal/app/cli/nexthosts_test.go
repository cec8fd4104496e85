package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"nbs-worker/internal/app/cli/ui"
	"nbs-worker/internal/app/cli/ui/uitest"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/sim/rig"
)

// withProjects gives a test an ssh of its own, and hosts by name with the folders of their projects. The ssh runs the
// program of the test; it notes what gets a terminal, and the host down refuses connections.
func withProjects(t *testing.T, folders map[string]string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	self, err := os.Executable()
	rig.Must(t, err)
	scripts := map[string]string{
		"nbs-worker": "#!/bin/sh\n" + isFar + "=yes exec " + self + ` "$@"` + "\n",
		"ssh": `#!/bin/sh
for word; do destination=$last; last=$word; done
if test "$destination" = of-down; then echo "ssh: connect to host x port 22: Connection refused" >&2; exit 255; fi
if test -e ` + dir + `/$destination-refuses; then echo > ` + dir + `/refused; echo "Permission denied (publickey)." >&2; exit 255; fi
if test "$1" = -t; then echo "$last" >> ` + dir + `/visits; exit 8; fi
exec sh -c "$last"
`,
	}
	for name, text := range scripts {
		rig.WriteProgram(t, filepath.Join(dir, name), text)
	}
	var text strings.Builder
	text.WriteString("version: 1\nhosts:\n")
	for name, folder := range folders {
		fmt.Fprintf(&text, "  %s:\n    destination: of-%s\n    folder: %q\n", name, name, folder)
	}
	config := filepath.Join(dir, "config")
	rig.Must(t, os.MkdirAll(filepath.Join(config, "nbs-worker"), 0o700))
	rig.Must(t, os.WriteFile(filepath.Join(config, "nbs-worker", "hosts.yaml"), []byte(text.String()), 0o600))
	t.Setenv("XDG_CONFIG_HOME", config)
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	return dir
}

// next --hosts goes to the agent of any place that has waited longest, those that the user has seen last.
func TestNextOfAllHosts(t *testing.T) {
	own, far := newProject(t, uitest.Record("alpha")), newProject(t, uitest.Record("bob"))
	dir := withProjects(t, map[string]string{"build1": far, "down": "/"})
	t.Chdir(own)
	terminal := ui.Streams{InTTY: true, OutTTY: true}
	runOn(terminal, "next").want(t, fail.Held, "next alpha: the agent does not run")

	r := run("next", "--hosts", "--print").want(t, 0, "nbs-worker: down is unreachable: it refuses connections\n")
	rig.Equal(t, r.out, "bob@build1\n", "next --hosts --print")

	runOn(terminal, "next", "--hosts").want(t, fail.Held)
	visits, err := os.ReadFile(filepath.Join(dir, "visits"))
	rig.Must(t, err)
	rig.Check(t, strings.HasSuffix(string(visits), "'NBS_AS_HOST=build1 "+far+"' 'nbs-worker' '--root' '"+far+"' 'next'\n"), "what got the terminal: %q", visits)

	runOn(terminal, "--root", far, "next").want(t, fail.Held, "next bob: ")
	rig.Equal(t, run("next", "--hosts", "--print").want(t, 0).out, "alpha\n", "of two that the user has seen")
	runOn(terminal, "next").want(t, fail.Held, "next alpha: ")
	rig.Equal(t, run("next", "--hosts", "--print").want(t, 0).out, "bob@build1\n", "then the one that was left longest ago")
}

func TestNextOfNobodyAtAnyHost(t *testing.T) {
	withProjects(t, map[string]string{"build1": newProject(t), "down": "/", "build3": t.TempDir()})
	t.Chdir(newProject(t))
	r := run("next", "--hosts", "--print").want(t, fail.Partial, "nbs-worker: next: nobody is known to need you; what down needs is not known\n", "down is unreachable", "build3: next: no .nbs folder")
	rig.Check(t, r.out == "" && !strings.Contains(r.err, "build1"), "%+v", r)
	run("list", "--host", "build3").want(t, fail.NotFound, "nbs-worker: build3: list: no .nbs folder")
	run("host", "remove", "down").want(t, 0)
	run("next", "--hosts", "--print").want(t, fail.NotFound, "nbs-worker: next: nobody needs you\n")
}

// A command that asks something gets the user's terminal.
func TestAQuestionOfAHost(t *testing.T) {
	far := newProject(t, uitest.Record("bob"))
	dir := withProjects(t, map[string]string{"build1": far})
	t.Chdir(t.TempDir())
	terminal := ui.Streams{InTTY: true, OutTTY: true, ErrTTY: true}
	for _, line := range []string{"allow --team", "allow bob", "memory allow", "dismiss --all", "memory forget --handle bob"} {
		runOn(terminal, append([]string{"--host", "build1"}, strings.Fields(line)...)...).want(t, fail.Held) // as the ssh of the test ends
		visits, err := os.ReadFile(filepath.Join(dir, "visits"))
		rig.Must(t, err)
		want := "'nbs-worker' '--root' '" + far + "' '" + strings.ReplaceAll(line, " ", "' '") + "'\n"
		rig.Check(t, strings.HasSuffix(string(visits), want), "%s: what got the terminal: %q", line, visits)
	}
	rig.Must(t, os.Remove(filepath.Join(dir, "visits")))
	run("allow", "--team", "--host", "build1").want(t, fail.Held, "hint: in a terminal: nbs-worker --host build1 allow --team")
	runOn(terminal, "dismiss", "--all", "--yes", "--host", "build1").want(t, 0)
	_, err := os.Stat(filepath.Join(dir, "visits"))
	rig.Check(t, os.IsNotExist(err), "what asks nothing got the terminal: %v", err)
}
