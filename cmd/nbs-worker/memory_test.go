package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"nbs-worker/internal/sim/rig"
)

// A death for want of memory, told from a kill by hand. The kernel's part is played: its
// log and the counter of the agent's memory cgroup are files of the test's.

// memory is what the kernel says of a played cgroup.
type memory struct {
	*team
	dir string
}

// playMemory makes nbs-worker read a kernel's files from the test.
func playMemory(m *team) memory {
	m.Helper()
	k := memory{team: m, dir: m.folder("kernel")}
	k.put("cgroup", "0::/user.slice/team\n")
	k.put("mountinfo", fmt.Sprintf("29 23 0:26 / %s/cgroups rw,nosuid - cgroup2 cgroup2 rw\n", k.dir))
	if err := os.MkdirAll(filepath.Join(k.dir, "cgroups/user.slice/team"), 0o700); err != nil {
		m.Fatal(err)
	}
	k.count(1) // of an earlier life
	k.put("kmsg", "")
	m.worker = rig.WorkerWith(m, "-X nbs-worker/internal/proc.testOnlyOOM="+k.dir)
	return k
}

func (k memory) put(name, text string) {
	k.Helper()
	if err := os.WriteFile(filepath.Join(k.dir, name), []byte(text), 0o600); err != nil {
		k.Fatal(err)
	}
}

func (k memory) count(kills int) {
	k.put("cgroups/user.slice/team/memory.events.local", fmt.Sprintf("low 0\nhigh 0\nmax 9\noom 9\noom_kill %d\n", kills))
}

// hideLog makes the log one that only root may read.
func (k memory) hideLog() {
	k.Helper()
	if err := os.Remove(filepath.Join(k.dir, "kmsg")); err != nil {
		k.Fatal(err)
	}
}

// says appends to the log what the kernel writes when it kills a process of the cgroup.
func (k memory) says(pid int, name string) {
	k.Helper()
	f, err := os.OpenFile(filepath.Join(k.dir, "kmsg"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		k.Fatal(err)
	}
	defer f.Close()
	if _, err := fmt.Fprintf(f, "3,2001,77001234,-;Memory cgroup out of memory: Killed process %d (%s) total-vm:9kB, anon-rss:9kB, UID:0 pgtables:9kB oom_score_adj:0\n", pid, name); err != nil {
		k.Fatal(err)
	}
}

const byTheKernel = "signal: killed, by the kernel for want of memory"

// The log names the process; where it may not be read, the counter rises at the very end.
func TestDiedForWantOfMemory(t *testing.T) {
	m := standIn(t)
	k := playMemory(m)
	before := m.remembers("alpha")
	k.count(2)
	k.says(before.RecordedPID, "claude")
	m.kill(before.RecordedPID, syscall.SIGKILL)
	e := m.mustHaveDied("alpha", "killed: out of memory", byTheKernel)
	if !e.LastExit.OutOfMemory || e.LastExit.OOMKills != 1 || !strings.Contains(e.LastExit.LastScreen, "42") {
		t.Errorf("%+v", e.LastExit)
	}
	e.mustAdvise(m, "ps -eo rss,pid,args --sort=-rss | head", bringBack)

	k.hideLog()
	m.mustRemember("alpha", before)
	k.count(3)
	m.kill(m.session("alpha").RecordedPID, syscall.SIGKILL)
	m.mustHaveDied("alpha", "killed: out of memory", byTheKernel)
}

// A tool that takes too much memory is killed, and its agent is not. Whatever ends the
// agent afterwards was not the kernel.
func TestToolDiedForWantOfMemory(t *testing.T) {
	m := standIn(t, "spawn-child")
	k := playMemory(m)
	m.ok("spawn", "alpha")
	k.killTool("alpha", 2)
	m.kill(m.session("alpha").RecordedPID, syscall.SIGTERM)
	m.mustHaveDied("alpha", "crashed", "code 143, as after SIGTERM")
	m.ok("resume", "alpha")
	k.killTool("alpha", 3)
	m.kill(m.session("alpha").RecordedPID, syscall.SIGKILL)
	e := m.mustHaveDied("alpha", "crashed", "signal: killed; while it ran the kernel killed other processes, or this one, of its cgroup for want of memory: 1")
	if e.LastExit.OutOfMemory || e.LastExit.OOMKills != 1 {
		t.Errorf("%+v", e.LastExit)
	}
}

// killTool plays that the kernel killed the tool that an agent has started.
func (k memory) killTool(handle string, kills int) {
	k.Helper()
	claude := k.session(handle).RecordedPID
	children := slices.DeleteFunc(carrying(process(k.record(handle))["invocation"].(string)), func(pid int) bool { return parent(pid) != claude })
	if len(children) != 1 {
		k.Fatalf("the tools of %s: %v", handle, children)
	}
	k.count(kills)
	k.says(children[0], "sleep")
	k.kill(children[0], syscall.SIGKILL)
}

// The kernel may choose the launcher. claude follows, by a hangup, and nobody saw why.
func TestLauncherDiedForWantOfMemory(t *testing.T) {
	m := standIn(t)
	k := playMemory(m)
	m.ok("spawn", "alpha")
	m.keepServer()
	claude, launcher := m.session("alpha").RecordedPID, m.launcher("alpha")
	k.count(2)
	k.says(launcher, "nbs-worker")
	m.kill(launcher, syscall.SIGKILL)
	m.waitDead(claude)
	m.mustHaveDied("alpha", "crashed", "its launcher was killed, or could not write")
	m.ok("resume", "alpha")
}
