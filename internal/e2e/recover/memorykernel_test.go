package recover

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"nbs-worker/internal/e2e"
	"nbs-worker/internal/sim/rig"
)

// Killed by the real kernel. What wants the memory is another process of claude's cgroup. The kernel is told to take claude
// first, and finds the other one next when it wants more before that is gone.
func TestKernelKillsForWantOfMemory(t *testing.T) {
	m := standIn(t)
	m.KeepServer()
	group, can := m.confine(m.ServerPID())
	if !can {
		t.Log("this machine lets nobody make a memory cgroup; the kernel's part is played in the other tests")
		return
	}
	before := m.Remembers("alpha")
	claude := fmt.Sprintf("/proc/%d/oom_score_adj", m.Session("alpha").PID)
	m.Must(os.WriteFile(claude, []byte("1000"), 0))
	group.limit(64 << 20)
	glutton := rig.StartChild(t, exec.Command("sh", "-c", `echo $$ >"$0" && exec tail /dev/zero`, filepath.Join(group.dir, "cgroup.procs"))) // one line without an end
	m.WaitFor("claude is dead", func() (bool, string) {
		now := m.Session("alpha")
		return now.IsDead(), fmt.Sprintf("%+v", now)
	})
	_ = glutton.Process.Kill()
	m.WaitState("alpha", "killed: probably out of memory")
	kills := "1 process"
	if n := m.endOf("alpha").LastExit.OOMKills; n > 1 { // the other one too
		kills = fmt.Sprintf("%d processes", n)
	}
	e := m.mustHaveDied("alpha", "killed: probably out of memory", byTheKernel(kills))
	m.Check(e.LastExit.OOMKills != 0 && e.LastExit.Signal == "killed", "%+v", e.LastExit)
	m.MustRemember("alpha", before)
}

// A memoryGroup is a memory cgroup of a test, of version 1 or 2.
type memoryGroup struct {
	m           *team
	dir         string
	usage, most string // its files
}

// confine moves a process, and with it all that it will start, to a memory cgroup of its own; false
// where the machine does not allow it.
func (m *team) confine(pid int) (memoryGroup, bool) {
	m.Helper()
	for _, hierarchy := range []struct{ root, usage, limit string }{
		{"/sys/fs/cgroup/memory", "memory.usage_in_bytes", "memory.limit_in_bytes"},
		{"/sys/fs/cgroup", "memory.current", "memory.max"},
	} {
		dir, err := os.MkdirTemp(hierarchy.root, "nbs-test-")
		if err != nil {
			continue
		}
		m.Cleanup(func() {
			m.KillServer() // all that is in it
			m.WaitFor("the cgroup is empty and removed", func() (bool, string) {
				err := os.Remove(dir)
				return err == nil, fmt.Sprint(err)
			})
		})
		group := memoryGroup{m, dir, filepath.Join(dir, hierarchy.usage), filepath.Join(dir, hierarchy.limit)}
		if _, err := os.Stat(group.most); err == nil && group.write("cgroup.procs", pid) == nil {
			return group, true
		}
	}
	return memoryGroup{}, false
}

func (g memoryGroup) write(file string, number int) error {
	return os.WriteFile(filepath.Join(g.dir, file), []byte(strconv.Itoa(number)), 0)
}

// limit allows the group as many bytes more than it has.
func (g memoryGroup) limit(more int) {
	g.m.Helper()
	used, err := strconv.Atoi(strings.TrimSpace(e2e.Read(g.m.T, g.usage)))
	if err == nil {
		err = g.write(filepath.Base(g.most), used+more)
	}
	g.m.Must(err)
}
