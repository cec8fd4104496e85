package host

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/sim/rig"
)

func TestWhereTheFileIs(t *testing.T) {
	t.Parallel()
	for want, env := range map[File][]string{
		"/c/nbs-worker/hosts.yaml":         {"HOME=/h", "XDG_CONFIG_HOME=/c"},
		"/h/.config/nbs-worker/hosts.yaml": {"HOME=/h", "XDG_CONFIG_HOME=c"},
	} {
		got, err := FileOf(env)
		rig.Must(t, err)
		rig.Same(t, "the file", want, got)
	}
	_, err := FileOf([]string{"HOME=h"})
	rig.Same(t, "kind", fail.Unfit, fail.KindOf(err))
}

func TestMistakesOfTheFile(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                     "",
		"version: 1":           "",
		"version: 1\nhosts:\n": "",
		"version: 1\nhosts: {a: {destination: a.org, folder: ~/x, program: /opt/nbs, limits: {running: 4}}}": "",
		"hosts: {}": "line 1, column 1: the file: it must have version: 1",
		"version: 1\nhosts: {A: {destination: a}}":                              `line 2, column 9: "A" is not a name for a host`,
		"version: 1\nhosts: {a: {}}":                                            `line 2, column 9: "" is not a destination for ssh`,
		"version: 1\nhosts: {a: {destination: -oProxyCommand=x}}":               `line 2, column 9: "-oProxyCommand=x" is not a destination for ssh`,
		"version: 1\nhosts: {a: {destination: a, folder: ~bob/x}}":              `line 2, column 9: "~bob/x" is not a folder for a host`,
		"version: 1\nhosts: {a: {destination: a, program: A=b}}":                `line 2, column 9: "A=b" is not a program for a host`,
		"version: 1\nhosts: {a: {destination: a, program: -S}}":                 `line 2, column 9: "-S" is not a program for a host`,
		"version: 1\nhosts: {a: {destination: a, program: sh}}":                 `line 2, column 9: "sh" is not a program for a host`,
		"version: 1\nhosts: {a: {destination: a}, a: {destination: b}}":         `line 2, column 30: there is a host "a" already`,
		"version: 1\nhosts: {a: {destination: a, folders: x}}":                  `line 2, column 29: host a: there is no field "folders"; did you mean folder?`,
		"version: 1\nhosts: {a: {destination: a, limits: 4}}":                   "line 2, column 37: ",
		"version: 1\nhosts: {a: {destination: a, limits: {agents: 0}}}":         `line 2, column 46: limits: "0" is not a number of agents from 1`,
		"version: 1\nhosts:\n  a: {destination: a}\n  b: {destination: '-b'}\n": `line 4, column 3: "-b" is not a destination`,
	} {
		_, err := Parse("hosts.yaml", []byte(text))
		if want == "" {
			rig.Must(t, err)
			continue
		}
		rig.Check(t, fail.KindOf(err) == fail.BadInput && strings.Contains(fmt.Sprint(err), want), "%q: %v; want %s", text, err, want)
	}
	hosts, err := Parse("hosts.yaml", []byte("version: 1\nhosts: {b: {destination: b, folder: '~'}, a: {destination: u@a, folder: ~/x}}"))
	rig.Must(t, err)
	rig.Same(t, "the hosts, sorted", Hosts{{Name: "a", Destination: "u@a", Folder: "x"}, {Name: "b", Destination: "b"}}, hosts)
}

func TestFind(t *testing.T) {
	t.Parallel()
	all := Hosts{{Name: "build1", Destination: "b"}, {Name: "gpu", Destination: "g"}}
	found, err := all.Find("gpu")
	rig.Must(t, err)
	rig.Same(t, "the host", all[1], found)
	for name, hint := range map[string]string{"biuld1": "did you mean build1?", "laptop": "nbs-worker host list"} {
		_, err := all.Find(name)
		rig.Check(t, fail.KindOf(err) == fail.NotFound && strings.Contains(strings.Join(fail.HintsOf(err), " "), hint), "%s: %v %v", name, err, fail.HintsOf(err))
	}
	for name, hint := range map[string]string{"build1": "host add build1 DESTINATION", "$(x)": "host add NAME DESTINATION"} {
		_, err := Hosts(nil).Find(name)
		rig.Check(t, strings.Contains(strings.Join(fail.HintsOf(err), " "), hint), "%s: %v", name, fail.HintsOf(err))
	}
}

func TestAChangeKeepsWhatTheUserWrote(t *testing.T) {
	t.Parallel()
	f := File(filepath.Join(t.TempDir(), "new", "hosts.yaml"))
	hosts, err := f.Load()
	rig.Check(t, err == nil && hosts == nil, "hosts of no file: %v, %v", hosts, err)
	add := func(h Host) func(Hosts) (Hosts, error) {
		return func(all Hosts) (Hosts, error) { return append(all, h), nil }
	}
	rig.Must(t, f.Change(t.Context(), add(Host{Name: "build1", Destination: "build1.example.org"})))
	rig.Same(t, "the new file", "# Your other machines. What may stand here: nbs-worker help host\nversion: 1\nhosts:\n  build1:\n    destination: build1.example.org\n", contentOf(t, string(f)))
	info, err := os.Stat(string(f))
	rig.Must(t, err)
	rig.Same(t, "its mode", os.FileMode(0o600), info.Mode())

	const written = "# mine\nversion: 1\nhosts:\n  # the big one\n  gpu: {destination: gpu} # loud\n  old:\n    destination: old\n"
	dotfile := filepath.Join(t.TempDir(), "hosts")
	rig.Must(t, os.WriteFile(dotfile, []byte(written), 0o600))
	rig.Must(t, os.Remove(string(f)))
	rig.Must(t, os.Symlink(dotfile, string(f)))
	rig.Must(t, f.Change(t.Context(), func(all Hosts) (Hosts, error) {
		return Hosts{all[0], {Name: "new", Destination: "u@new", Folder: "a: b", Program: "bin/nbs", Limits: agent.Room{Running: 4}}}, nil
	}))
	rig.Same(t, "the file behind the link", "# mine\nversion: 1\nhosts:\n  # the big one\n  gpu: {destination: gpu} # loud\n  new:\n    destination: u@new\n    folder: 'a: b'\n    program: bin/nbs\n    limits: {running: 4}\n", contentOf(t, dotfile))
	hosts, err = f.Load()
	rig.Must(t, err)
	rig.Same(t, "the hosts", Hosts{{Name: "gpu", Destination: "gpu"}, {Name: "new", Destination: "u@new", Folder: "a: b", Program: "bin/nbs", Limits: agent.Room{Running: 4}}}, hosts)

	err = f.Change(t.Context(), add(Host{Name: "x", Destination: "-x"}))
	rig.Same(t, "kind of a host that cannot be", fail.BadInput, fail.KindOf(err))
}

// A person may have commented out the only host, or all of the file.
func TestAHostIsAddedToAnEmptyList(t *testing.T) {
	t.Parallel()
	for written, want := range map[string]string{
		"version: 1\nhosts:\n":                  "version: 1\nhosts:\n  new:\n    destination: new\n",
		"# mine\nversion: 1\nhosts: {}\n":       "# mine\nversion: 1\nhosts:\n  new:\n    destination: new\n",
		"# gpu: {a: b}":                         "# gpu: {a: b}\nversion: 1\nhosts:\n  new:\n    destination: new\n",
		"version: 1\nhosts:\n  # gpu: {a: b}\n": "version: 1\nhosts:\n  new:\n    destination: new\n\n# gpu: {a: b}\n",
	} {
		f := File(filepath.Join(t.TempDir(), "hosts.yaml"))
		rig.Must(t, os.WriteFile(string(f), []byte(written), 0o600))
		rig.Must(t, f.Change(t.Context(), func(all Hosts) (Hosts, error) {
			return append(all, Host{Name: "new", Destination: "new"}), nil
		}))
		rig.Same(t, "what became of "+written, want, contentOf(t, string(f)))
		hosts, err := f.Load()
		rig.Must(t, err)
		rig.Same(t, "the hosts", Hosts{{Name: "new", Destination: "new"}}, hosts)
	}
}

func TestHostsAddedAtOnceAreAllKept(t *testing.T) {
	t.Parallel()
	f := File(filepath.Join(t.TempDir(), "hosts.yaml"))
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			rig.Check(t, f.Change(t.Context(), func(all Hosts) (Hosts, error) {
				return append(all, Host{Name: fmt.Sprint("h", i), Destination: "d"}), nil
			}) == nil, "host %d was not added", i)
		})
	}
	all.Wait()
	hosts, err := f.Load()
	rig.Must(t, err)
	rig.Same(t, "how many", 8, len(hosts))
}

func TestAFileThatOthersCanChangeIsRefused(t *testing.T) {
	t.Parallel()
	f := File(filepath.Join(t.TempDir(), "hosts.yaml"))
	rig.Must(t, os.WriteFile(string(f), []byte("version: 1\n"), 0o600))
	rig.Must(t, os.Chmod(string(f), 0o660))
	_, err := f.Load()
	rig.Check(t, fail.KindOf(err) == fail.BadInput && strings.HasPrefix(strings.Join(fail.HintsOf(err), ""), "make it private: chmod 600 '"), "%v", err)
	rig.Must(t, os.Chmod(string(f), 0o644))
	_, err = f.Load()
	rig.Must(t, err)
}

func contentOf(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	rig.Must(t, err)
	return string(text)
}
