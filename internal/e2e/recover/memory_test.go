package recover

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"nbs-worker/internal/sim/rig"
)

// A death for want of memory. The kernel's part is played: the counter of the agent's memory
// cgroup is a file of the test's.

// memory is what the kernel says of a played cgroup.
type memory struct {
	*team
	dir string
}

// playMemory makes nbs-worker read a kernel's files from the test.
func playMemory(m *team) memory {
	m.Helper()
	k := memory{team: m, dir: m.Folder("kernel")}
	k.put("cgroup", "0::/user.slice/team\n")
	k.put("mountinfo", fmt.Sprintf("29 23 0:26 / %s/cgroups rw,nosuid - cgroup2 cgroup2 rw\n", k.dir))
	m.Must(os.MkdirAll(filepath.Join(k.dir, "cgroups/user.slice/team"), 0o700))
	k.count(1) // of an earlier life
	m.Worker = rig.WorkerWith(m, "-X nbs-worker/internal/platform/machine/local.testOnlyOOM="+k.dir)
	return k
}

func (k memory) put(name, text string) {
	k.Helper()
	k.Must(os.WriteFile(filepath.Join(k.dir, name), []byte(text), 0o600))
}

func (k memory) count(kills int) {
	k.put("cgroups/user.slice/team/memory.events.local", fmt.Sprintf("low 0\nhigh 0\nmax 9\noom 9\noom_kill %d\n", kills))
}

func byTheKernel(kills string) string {
	return "signal: killed, probably by the kernel: while it ran, memory ran out and the kernel killed " + kills + " in its cgroup"
}

func TestDiedForWantOfMemory(t *testing.T) {
	m := standIn(t, "spawn-child")
	k := playMemory(m)
	before := m.Remembers("alpha")
	k.count(2)
	m.Kill(before.RecordedPID, syscall.SIGKILL)
	e := m.mustHaveDied("alpha", "killed: probably out of memory", byTheKernel("1 process"))
	m.Check(e.LastExit.OOMKills == 1 && strings.Contains(e.LastExit.LastScreen, "42"), "%+v", e.LastExit)
	e.mustAdvise(m, "ps -eo rss,pid,args --sort=-rss | head", bringBack)
	m.MustRemember("alpha", before)
	m.Kill(m.Session("alpha").RecordedPID, syscall.SIGKILL)
	m.mustHaveDied("alpha", "crashed", "signal: killed")
}
