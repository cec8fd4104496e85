package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
)

// Processes as the kernel shows them.

func procFile(pid int, name string) string { return fmt.Sprintf("/proc/%d/%s", pid, name) }

func allPIDs() []int {
	entries, _ := os.ReadDir("/proc")
	var pids []int
	for _, entry := range entries {
		if pid, err := strconv.Atoi(entry.Name()); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids
}

// statFields are the fields of a process's stat line behind its name, in the order of proc(5); nil when it is gone.
func statFields(pid int) []string {
	stat, _ := os.ReadFile(procFile(pid, "stat"))
	return strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
}

// Where fields stand in statFields: 3, 4 and 22 in proc(5), which counts from 1 and has pid and name before them.
const (
	statState      = 0
	statParent     = 1
	statStartTicks = 19
)

// dead tells whether a process has ended; a zombie has.
func dead(pid int) bool { return ended(statFields(pid)) }

func ended(stat []string) bool {
	return len(stat) <= statStartTicks || stat[statState] == "Z" || stat[statState] == "X"
}

// waitDead waits until a process has ended.
func (m *team) waitDead(pid int) {
	m.Helper()
	m.waitFor(fmt.Sprintf("process %d is gone", pid), func() (bool, string) { return dead(pid), "" })
}

// parent is the pid of a process's parent; 0 when it is gone.
func parent(pid int) int {
	fields := statFields(pid)
	if len(fields) <= statParent {
		return 0
	}
	ppid, _ := strconv.Atoi(fields[statParent]) // the kernel writes numbers
	return ppid
}

// startTicks tells when a process began, as a record has it.
func (m *team) startTicks(pid int) uint64 {
	m.Helper()
	fields := statFields(pid)
	if len(fields) <= statStartTicks {
		m.Fatalf("process %d is gone", pid)
	}
	ticks, err := strconv.ParseUint(fields[statStartTicks], 10, 64)
	m.must(err)
	return ticks
}

// identityOf is pid and start ticks of a live process; "" for a dead one.
func identityOf(pid int) string {
	fields := statFields(pid)
	if ended(fields) {
		return ""
	}
	return fmt.Sprint(pid, " since ", fields[statStartTicks])
}

// cmdline is the command line of a process.
func (m *team) cmdline(pid int) []string {
	m.Helper()
	text, err := os.ReadFile(procFile(pid, "cmdline"))
	m.must(err)
	return strings.Split(strings.TrimSuffix(string(text), "\x00"), "\x00")
}

// environ is the environment with which a process was started.
func (m *team) environ(pid int) map[string]string {
	m.Helper()
	data, err := os.ReadFile(procFile(pid, "environ"))
	m.must(err)
	env := map[string]string{}
	for entry := range strings.SplitSeq(string(data), "\x00") {
		name, value, _ := strings.Cut(entry, "=")
		env[name] = value
	}
	return env
}

// valueIn reads a variable of an environment as the kernel shows it.
func valueIn(environ []byte, name string) string {
	for entry := range bytes.SplitSeq(environ, []byte{0}) {
		if value, ok := bytes.CutPrefix(entry, []byte(name+"=")); ok {
			return string(value)
		}
	}
	return ""
}

// claudesOn lists the live claudes on whose command line the session id stands behind
// --session-id or --resume. A child that claude has forked and that has not become its
// own program yet still shows claude's line; it is not counted.
func claudesOn(id string) []int {
	pids := showing(id)
	return slices.DeleteFunc(slices.Clone(pids), func(pid int) bool { return slices.Contains(pids, parent(pid)) })
}

// showing lists the processes that show such a command line.
func showing(id string) []int {
	var pids []int
	for _, pid := range allPIDs() {
		cmdline, _ := os.ReadFile(procFile(pid, "cmdline"))
		args := strings.Split(string(cmdline), "\x00")
		at := slices.Index(args, id)
		if at > 0 && (args[at-1] == "--session-id" || args[at-1] == "--resume") && !dead(pid) {
			pids = append(pids, pid)
		}
	}
	return pids
}

// carrying lists the live processes with the invocation of the agent's last start.
func (m *team) carrying(handle string) []int {
	m.Helper()
	return carrying(process(m.record(handle))["invocation"].(string))
}

// carrying lists the live processes with an invocation.
func carrying(invocation string) []int {
	var pids []int
	for _, pid := range allPIDs() {
		environ, _ := os.ReadFile(procFile(pid, "environ"))
		if strings.Contains(string(environ), "NBS_INVOCATION_ID="+invocation+"\x00") && !dead(pid) {
			pids = append(pids, pid)
		}
	}
	return pids
}

// kill sends a signal to a process that a record names.
func (m *team) kill(pid int, signal syscall.Signal) {
	m.Helper()
	if pid < 2 {
		m.Fatalf("no process to kill: %d", pid)
	}
	m.must(syscall.Kill(pid, signal))
}

// sleeper is a process that has nothing to do with any agent, with a child of its own.
func (m *team) sleeper() (pid, child int) {
	m.Helper()
	cmd := exec.Command("sh", "-c", "sleep 600 & echo $!; wait")
	cmd.Env = []string{"PATH=" + os.Getenv("PATH")}
	out := &lockedBuffer{}
	cmd.Stdout = out
	m.must(cmd.Start())
	m.waitFor("the sleeper sleeps", func() (bool, string) { return strings.HasSuffix(out.String(), "\n"), out.String() })
	child, err := strconv.Atoi(strings.TrimSpace(out.String()))
	m.must(err)
	m.Cleanup(func() {
		_ = syscall.Kill(child, syscall.SIGKILL)
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	return cmd.Process.Pid, child
}

// lockedBuffer takes the output of a process while a test reads it.
type lockedBuffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}
