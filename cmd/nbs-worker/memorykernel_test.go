package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// The real claude, killed by the real kernel.
func TestKernelKillsForWantOfMemory(t *testing.T) {
	m := real(t)
	m.keepServer()
	limit, can := m.confine(m.serverPID())
	if !can {
		t.Log("this machine lets nobody make a memory cgroup; the kernel's part is played in the other tests")
		return
	}
	before := m.remembers("alpha")
	limit(4 << 20)
	target := "=" + before.TmuxSession + ":"
	m.waitFor("claude wants more memory than it has", func() (bool, string) { // at any moment from now on
		m.tmux("send-keys", "-t", target, "hello", "Enter")
		now := m.session("alpha")
		return now.isDead(), fmt.Sprintf("%+v", now)
	})
	e := m.mustHaveDied("alpha", "killed: probably out of memory", byTheKernel)
	if e.LastExit.OOMKills == 0 || e.LastExit.Signal != "killed" {
		t.Errorf("%+v", e.LastExit)
	}
	m.mustRemember("alpha", before)
}

// confine moves a process, and with it all that it will start, to a memory cgroup of its own, and
// returns what gives that as many bytes more than it has; false where the machine does not allow it.
func (m *team) confine(pid int) (limit func(more int), can bool) {
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
			m.killServer() // all that is in it
			m.waitFor("the cgroup is empty and removed", func() (bool, string) {
				err := os.Remove(dir)
				return err == nil, fmt.Sprint(err)
			})
		})
		if _, err := os.Stat(filepath.Join(dir, hierarchy.limit)); err != nil || os.WriteFile(filepath.Join(dir, "cgroup.procs"), []byte(strconv.Itoa(pid)), 0) != nil {
			continue
		}
		return func(more int) {
			used, err := strconv.Atoi(strings.TrimSpace(read(m.T, filepath.Join(dir, hierarchy.usage))))
			if err == nil {
				err = os.WriteFile(filepath.Join(dir, hierarchy.limit), []byte(strconv.Itoa(used+more)), 0)
			}
			if err != nil {
				m.Fatal(err)
			}
		}, true
	}
	return nil, false
}
