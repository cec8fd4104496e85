package hosts

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"nbs-worker/internal/sim/rig"
)

func TestMain(m *testing.M) { os.Exit(rig.Main(m, 3*time.Minute)) }

// atHost runs ssh as a client's program would.
func atHost(t *testing.T, bin string, words ...string) (out string, code int) {
	t.Helper()
	cmd := exec.Command(filepath.Join(bin, "ssh"), append([]string{"-o", "BatchMode=yes", "-o", "ConnectTimeout=60"}, words...)...)
	text, err := cmd.CombinedOutput()
	if _, exited := errors.AsType[*exec.ExitError](err); err != nil && !exited {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(text)), cmd.ProcessState.ExitCode()
}

func TestHostsAreMachinesOfTheirOwn(t *testing.T) {
	t.Parallel()
	one, two := Start(t, "build1", ""), Start(t, "build2", "")
	bin := Client(t, t.TempDir(), one, two)
	const look = "hostname; echo $HOME; pwd; echo $XDG_RUNTIME_DIR; cat /proc/sys/kernel/random/boot_id; cat /proc/1/comm"
	var boots []string
	for _, h := range []*Host{one, two} {
		out, code := atHost(t, bin, h.Name, look)
		lines := strings.Split(out, "\n")
		if code != 0 || len(lines) != 6 {
			t.Fatalf("%s: code %d\n%s", h.Name, code, out)
		}
		rig.Same(t, h.Name, []string{h.Name, h.Home, h.Home, h.RunDir}, lines[:4])
		rig.Equal(t, lines[5], "nbs-sim", "the first process of %s", h.Name)
		boots = append(boots, lines[4])
	}
	rig.Check(t, boots[0] != boots[1], "both hosts have the boot id %s", boots[0])
	out, err := one.Command("hostname").CombinedOutput()
	rig.Check(t, err == nil && string(out) == "build1\n", "without ssh: %s, %v", out, err)
	out, err = exec.Command(two.Entrance("/bin/sh"), "-c", "hostname; echo $$").CombinedOutput()
	rig.Check(t, err == nil && strings.HasPrefix(string(out), "build2\n"), "by the entrance: %s, %v", out, err)
}

// What runs at a host ends when its power does, in whatever session; the next boot is another.
func TestARebootEndsEverything(t *testing.T) {
	t.Parallel()
	h := Start(t, "build1", "")
	bin := Client(t, t.TempDir(), h)
	left := filepath.Join(h.Home, "left")
	const boot = "cat /proc/sys/kernel/random/boot_id"
	before, _ := atHost(t, bin, "build1", boot)
	_, code := atHost(t, bin, "build1", "setsid sh -c 'echo $$ >"+left+"; exec sleep 1000' >/dev/null 2>&1 </dev/null & until [ -s "+left+" ]; do :; done")
	rig.Equal(t, code, 0, "leave a process")
	running := func() string {
		out, _ := atHost(t, bin, "build1", "cat /proc/[0-9]*/comm | grep -cx sleep")
		return out
	}
	rig.Equal(t, running(), "1", "processes that sleep after the logout")
	h.Reboot()
	rig.Equal(t, running(), "0", "processes that sleep after the reboot")
	after, _ := atHost(t, bin, "build1", boot)
	rig.Check(t, before != after, "the boot id is still %s", after)
	h.Stop()
	_, code = atHost(t, bin, "build1", "true")
	rig.Equal(t, code, 255, "ssh to a host that is down")
}

func TestTheNetworkFails(t *testing.T) {
	t.Parallel()
	h := Start(t, "build1", "")
	bin := Client(t, t.TempDir(), h)
	n := h.Network

	n.CutAfterBytes(10_000)
	out, code := atHost(t, bin, "build1", "head -c 100000 /dev/zero | tr '\\0' x")
	rig.Check(t, code == 255 && len(out) < 10_000, "cut in the middle: code %d, %d bytes", code, len(out))
	rig.Equal(t, n.CutAfterBytes(), 0, "cuts that did not come")

	n.Down()
	_, code = atHost(t, bin, "build1", "true")
	rig.Equal(t, code, 255, "ssh without a network")
	n.Up()
	_, code = atHost(t, bin, "build1", "true")
	rig.Equal(t, code, 0, "ssh with a network again")

	n.Delay(100 * time.Millisecond)
	begun := time.Now()
	_, code = atHost(t, bin, "build1", "true")
	rig.Check(t, code == 0 && time.Since(begun) > 500*time.Millisecond, "slowed: code %d after %v", code, time.Since(begun))
	n.Delay(0)

	said := filepath.Join(t.TempDir(), "said")
	f, err := os.Create(said)
	rig.Must(t, err)
	defer f.Close()
	cmd := exec.Command(filepath.Join(bin, "ssh"), "build1", "echo begun; until [ -e "+h.Home+"/go ]; do :; done; echo ended")
	cmd.Stdout = f
	rig.Must(t, cmd.Start())
	text := func() string { all, _ := os.ReadFile(said); return string(all) }
	rig.Eventually(t, "the command has begun", func() bool { return text() == "begun\n" })
	n.Silence()
	passed := n.Passed()
	rig.Must(t, os.WriteFile(filepath.Join(h.Home, "go"), nil, 0o600))
	rig.Equal(t, n.Passed(), passed, "bytes that passed in silence")
	n.Up()
	rig.Must(t, cmd.Wait())
	rig.Equal(t, text(), "begun\nended\n", "what was said")
}
