package hosts

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"nbs-worker/internal/e2e"
	"nbs-worker/internal/sim/rig"
)

// watching is a watch --hosts, which prints to a file.
type watching struct {
	*exec.Cmd

	f    *fleet
	file string
}

func (f *fleet) watches(name string) *watching {
	f.Helper()
	w := &watching{Cmd: f.Command([]string{"watch", "--hosts"}), f: f, file: filepath.Join(f.T.TempDir(), name)}
	out, err := os.Create(w.file)
	f.Must(err)
	defer out.Close()
	w.Stdout = out
	f.Must(w.Start())
	return w
}

// told is what it has printed: who, and what.
func (w *watching) told() (all []string) {
	for line := range strings.Lines(e2e.Read(w.f.T, w.file)) {
		if fields := strings.Split(line, "\t"); len(fields) > 2 {
			all = append(all, fields[1]+" "+fields[2])
		}
	}
	return all
}

func (w *watching) waitFor(told string) {
	w.f.Helper()
	w.f.WaitFor(told, func() (bool, string) {
		all := w.told()
		return slices.Contains(all, told), strings.Join(all, ", ")
	})
}

func (w *watching) end() {
	w.f.Helper()
	w.f.Must(w.Process.Signal(syscall.SIGINT))
	_ = w.Wait()
	rig.Equal(w.f, w.ProcessState.ExitCode(), 130, "the exit code of watch --hosts")
}

// loses starts an agent, and kills its tmux server.
func (h *host) loses(handle string) {
	h.Helper()
	h.OK("spawn", handle)
	h.WaitState(handle, "idle")
	h.killTmux()
}

// One watch tells what the agents of all hosts need, each thing once: over a cut, with a host that is added, and over another
// watch.
func TestWatchOfAllHosts(t *testing.T) {
	f := standIn(t, "build1", "build2")
	one, two := f.hosts["build1"], f.hosts["build2"]
	f.OK("host", "remove", "build2")
	two.loses("bob")
	first := f.watches("first")
	one.loses("alice")
	first.waitFor("alice@build1 down")
	one.machine.Network.Cut()
	f.OK("host", "add", "build2", "root@build2", "--folder", two.Dir)
	first.waitFor("bob@build2 down")
	one.loses("carol")
	first.waitFor("carol@build1 down")
	first.end()
	rig.Equal(f, len(first.told()), 3, "things told: %q", first.told())

	second := f.watches("second")
	two.loses("dora")
	second.waitFor("dora@build2 down")
	second.end()
	rig.Equal(f, len(second.told()), 1, "things told by another watch: %q", second.told())
}

// The limits that a user has for a host hold for what the user starts there, and for no one else's.
func TestLimitsOfAHost(t *testing.T) {
	f := standIn(t, "build1")
	h := f.hosts["build1"]
	f.OK("host", "add", "build1", "root@build1", "--folder", h.Dir, "--running", "1")
	f.MustSay(f.OK("host", "list"), "1 running")
	f.OK("spawn", "alice@build1")
	h.WaitState("alice", "idle")
	const reached = "its limit there of 1 running agent is reached"
	f.MustSay(f.Refused(8, reached, "spawn", "bob@build1").Stderr, "nbs-worker host list")
	f.OK("stop", "alice@build1")
	f.OK("spawn", "bob@build1")
	h.WaitState("bob", "idle")
	f.Refused(8, reached, "resume", "alice@build1")
	h.OK("resume", "alice")
	h.WaitState("alice", "idle")
}
