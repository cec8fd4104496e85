package proc

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// What the kernel has of this very process can be read here, or there is no memory cgroup.
func TestOOMCounterOfThisMachine(t *testing.T) {
	t.Parallel()
	group, v2 := memoryCgroup(os.Getpid())
	if group == "" {
		t.Fatal("the kernel names no cgroup of this process")
	}
	path, notifies := oomFile(os.Getpid())
	if path == "" {
		t.Fatalf("no counter for cgroup %s, v2 %t", group, v2)
	}
	if _, known := readOOMKills(path); !known && group != "/" || notifies != v2 {
		t.Errorf("%s: known %t, notifies %t", path, known, notifies)
	}
}

// A process that was killed by a signal was not killed by the kernel.
func TestSIGKILLIsNotOutOfMemory(t *testing.T) {
	t.Parallel()
	cmd := exec.Command("sleep", "600")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	watch := WatchMemory(cmd.Process.Pid)
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	if seen := watch.End(true); seen.Killed {
		t.Errorf("%+v", seen)
	}
}

func TestVictimsInTheKernelsLog(t *testing.T) {
	t.Parallel()
	for record, want := range map[string]int{
		"3,1234,5678,-;Memory cgroup out of memory: Killed process 42 (claude) total-vm:1kB, anon-rss:1kB, UID:0\n": 42,
		"3,1234,5678,-;Out of memory: Killed process 43 (claude) total-vm:1kB\n SUBSYSTEM=x\n":                      43,
		"3,1234,5678,-;Memory cgroup out of memory: Kill process 44 (claude) score 1 or sacrifice child\n":          44,
		"6,1234,5678,-;oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),task=claude,pid=45,uid=0\n":             0,
		"11,1234,5678,-;Out of memory: Killed process 46 (claude)\n":                                                0, // a program's
		"6,1234,5678,-;claude[47]: segfault at 0\n":                                                                 0,
		"": 0,
		"x;Out of memory: Killed process 48 (claude)\n": 0,
	} {
		if got := victimOf([]byte(record)); got != want {
			t.Errorf("%q: %d; want %d", record, got, want)
		}
	}
}

// counterIn is a counter of a file that stands for a cgroup's.
func counterIn(t *testing.T, notifies bool) (c *oomCounter, set func(kills int)) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "memory.events.local")
	set = func(kills int) {
		if err := os.WriteFile(path, fmt.Appendf(nil, "low 0\noom 7\noom_kill %d\noom_group_kill 0\n", kills), 0o600); err != nil {
			t.Error(err)
		}
	}
	set(3)
	c = &oomCounter{path: path, start: 3, before: 3, latest: 3}
	if notifies {
		c.listen()
		t.Cleanup(c.close)
	}
	return c, set
}

func TestCounterThatRisesAtTheEnd(t *testing.T) {
	t.Parallel()
	c, set := counterIn(t, true)
	if kills, fresh := c.sinceStart(); kills != 0 || fresh {
		t.Errorf("nothing happened: %d kills, fresh %t", kills, fresh)
	}
	set(4)
	if kills, fresh := c.sinceStart(); kills != 1 || !fresh {
		t.Errorf("%d kills, fresh %t", kills, fresh)
	}
}

// A tool that was killed earlier is not the agent.
func TestCounterThatRoseBefore(t *testing.T) {
	t.Parallel()
	c, set := counterIn(t, true)
	set(4)
	c.look()
	c.mu.Lock()
	c.at = c.at.Add(-2 * oomSettle)
	c.mu.Unlock()
	if kills, fresh := c.sinceStart(); kills != 1 || fresh {
		t.Errorf("%d kills, fresh %t", kills, fresh)
	}
	set(5)
	if kills, fresh := c.sinceStart(); kills != 2 || !fresh {
		t.Errorf("then it was killed: %d kills, fresh %t", kills, fresh)
	}
}

// The file itself tells that it has changed; nobody asks.
func TestCounterIsTold(t *testing.T) {
	t.Parallel()
	c, set := counterIn(t, true)
	set(4)
	for deadline := time.Now().Add(10 * time.Second); ; {
		c.mu.Lock()
		latest := c.latest
		c.mu.Unlock()
		if latest == 4 {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("the count is %d", latest)
		}
	}
}

// Files of cgroup v1 tell nothing of their changes: how old a rise is, nobody knows.
func TestCounterWithoutNoticeAccusesNobody(t *testing.T) {
	t.Parallel()
	c, set := counterIn(t, false)
	set(4)
	if kills, fresh := c.sinceStart(); kills != 1 || fresh {
		t.Errorf("%d kills, fresh %t", kills, fresh)
	}
}
