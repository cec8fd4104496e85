package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"testing"
)

// The real claude, killed by the real kernel.
func TestKernelKillsForWantOfMemory(t *testing.T) {
	m := real(t)
	before := m.remembers("alpha")
	if !m.confine(before.RecordedPID, 4<<20) {
		t.Log("this machine lets nobody make a memory cgroup; the kernel's part is played in the other tests")
		return
	}
	target := "=" + before.TmuxSession + ":"
	m.waitFor("claude wants more memory than it has", func() (bool, string) { // at any moment from now on
		m.tmux("send-keys", "-t", target, "hello", "Enter")
		now := m.session("alpha")
		return now.isDead(), fmt.Sprintf("%+v", now)
	})
	e := m.mustHaveDied("alpha", "killed: out of memory", byTheKernel)
	if !e.LastExit.OutOfMemory || e.LastExit.Signal != "killed" {
		t.Errorf("%+v", e.LastExit)
	}
	m.mustRemember("alpha", before)
}

// confine moves a process to a memory cgroup of its own, in which it gets that many bytes more
// than it has; false where the machine does not allow it.
func (m *team) confine(pid, limit int) bool {
	m.Helper()
	for _, hierarchy := range []struct{ root, limit string }{
		{"/sys/fs/cgroup/memory", "memory.limit_in_bytes"}, // version 1: what it has stays with where it was
		{"/sys/fs/cgroup", "memory.max"},
	} {
		dir, err := os.MkdirTemp(hierarchy.root, "nbs-test-")
		if err != nil {
			continue
		}
		m.Cleanup(func() {
			m.waitFor("the cgroup is empty and removed", func() (bool, string) {
				err := os.Remove(dir)
				return err == nil, fmt.Sprint(err)
			})
		})
		if os.WriteFile(filepath.Join(dir, hierarchy.limit), []byte(strconv.Itoa(limit)), 0) == nil &&
			os.WriteFile(filepath.Join(dir, "cgroup.procs"), []byte(strconv.Itoa(pid)), 0) == nil {
			return true
		}
	}
	return false
}
