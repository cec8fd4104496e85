package e2e

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"

	"nbs-worker/internal/sim/rig"
)

// Processes as the kernel shows them.

func ProcFile(pid int, name string) string { return fmt.Sprintf("/proc/%d/%s", pid, name) }

func AllPIDs() []int {
	entries, _ := os.ReadDir("/proc")
	var pids []int
	for _, entry := range entries {
		if pid, err := strconv.Atoi(entry.Name()); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids
}

// StatFields are the fields of a process's stat line behind its name, in the order of proc(5); nil when it is gone.
func StatFields(pid int) []string {
	stat, _ := os.ReadFile(ProcFile(pid, "stat"))
	return strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
}

// Where fields stand in statFields: 3, 4, 20 and 22 in proc(5), which counts from 1 and has pid and name before them.
const (
	StatState      = 0
	StatParent     = 1
	statThreads    = 17
	StatStartTicks = 19
)

// Dead reports whether a process has ended; a zombie has.
func Dead(pid int) bool { return Ended(StatFields(pid)) }

func Ended(stat []string) bool {
	return len(stat) <= StatStartTicks || stat[StatState] == "Z" || stat[StatState] == "X"
}

// WaitDead waits until a process has ended with all of its threads: until then it holds its locks.
func (m *Team) WaitDead(pid int) {
	m.Helper()
	m.WaitFor(fmt.Sprintf("process %d is gone", pid), func() (bool, string) {
		stat := StatFields(pid)
		return Ended(stat) && (len(stat) <= statThreads || stat[statThreads] == "1"), strings.Join(stat, " ")
	})
}

// Parent is the pid of a process's parent; 0 when it is gone.
func Parent(pid int) int {
	fields := StatFields(pid)
	if len(fields) <= StatParent {
		return 0
	}
	ppid, _ := strconv.Atoi(fields[StatParent]) // the kernel writes numbers
	return ppid
}

// StartTicks tells when a process began, as a record has it.
func (m *Team) StartTicks(pid int) uint64 {
	m.Helper()
	fields := StatFields(pid)
	if len(fields) <= StatStartTicks {
		m.Fatalf("process %d is gone", pid)
	}
	ticks, err := strconv.ParseUint(fields[StatStartTicks], 10, 64)
	m.Must(err)
	return ticks
}

// IdentityOf is pid and start ticks of a live process; "" for a dead one.
func IdentityOf(pid int) string {
	fields := StatFields(pid)
	if Ended(fields) {
		return ""
	}
	return fmt.Sprint(pid, " since ", fields[StatStartTicks])
}

// Cmdline is the command line of a process.
func (m *Team) Cmdline(pid int) []string {
	m.Helper()
	text, err := os.ReadFile(ProcFile(pid, "cmdline"))
	m.Must(err)
	return strings.Split(strings.TrimSuffix(string(text), "\x00"), "\x00")
}

// Environ is the environment with which a process was started.
func (m *Team) Environ(pid int) map[string]string {
	m.Helper()
	data, err := os.ReadFile(ProcFile(pid, "environ"))
	m.Must(err)
	env := map[string]string{}
	for entry := range strings.SplitSeq(string(data), "\x00") {
		name, value, _ := strings.Cut(entry, "=")
		env[name] = value
	}
	return env
}

// ValueIn reads a variable of an environment as the kernel shows it.
func ValueIn(environ []byte, name string) string {
	for entry := range bytes.SplitSeq(environ, []byte{0}) {
		if value, ok := bytes.CutPrefix(entry, []byte(name+"=")); ok {
			return string(value)
		}
	}
	return ""
}

// ClaudesOn lists the live claudes on whose command line the session id stands behind
// --session-id or --resume. A child that claude has forked and that has not become its
// own program yet still shows claude's line; it is not counted.
func ClaudesOn(id string) []int {
	pids := Showing(id)
	return slices.DeleteFunc(slices.Clone(pids), func(pid int) bool { return slices.Contains(pids, Parent(pid)) })
}

// Showing lists the processes that show such a command line.
func Showing(id string) []int {
	var pids []int
	for _, pid := range AllPIDs() {
		cmdline, _ := os.ReadFile(ProcFile(pid, "cmdline"))
		args := strings.Split(string(cmdline), "\x00")
		at := slices.Index(args, id)
		if at > 0 && (args[at-1] == "--session-id" || args[at-1] == "--resume") && !Dead(pid) {
			pids = append(pids, pid)
		}
	}
	return pids
}

// Carrying lists the live processes with the invocation of the agent's last start.
func (m *Team) Carrying(handle string) []int {
	m.Helper()
	return Carrying(Process(m.Record(handle))["invocation"].(string))
}

// Carrying lists the live processes with an invocation.
func Carrying(invocation string) []int {
	var pids []int
	for _, pid := range AllPIDs() {
		environ, _ := os.ReadFile(ProcFile(pid, "environ"))
		if strings.Contains(string(environ), "NBS_INVOCATION_ID="+invocation+"\x00") && !Dead(pid) {
			pids = append(pids, pid)
		}
	}
	return pids
}

// Kill sends a signal to a process that a record names.
func (m *Team) Kill(pid int, signal syscall.Signal) {
	m.Helper()
	if pid < 2 {
		m.Fatalf("no process to kill: %d", pid)
	}
	m.Must(syscall.Kill(pid, signal))
}

// KillUnnoticed kills the claude of an agent, and its launcher before that notices it, as a power cut does. Its tmux
// server is stopped meanwhile: tmux lets what is stopped in its panes go on.
func (m *Team) KillUnnoticed(s Session) {
	m.Helper()
	launcher := m.Launcher(s.Handle)
	_, goOn := m.StopServer(s.Handle)
	m.Kill(launcher, syscall.SIGSTOP)
	m.WaitFor("the launcher is stopped", func() (bool, string) {
		threads, err := filepath.Glob(ProcFile(launcher, "task/*/stat"))
		m.Must(err)
		for _, thread := range threads {
			if stat, err := os.ReadFile(thread); err == nil && !bytes.Contains(stat, []byte(") T ")) {
				return false, string(stat)
			}
		}
		return true, ""
	})
	m.Kill(s.RecordedPID, syscall.SIGKILL)
	m.Kill(launcher, syscall.SIGKILL)
	goOn()
	m.WaitDead(s.RecordedPID)
	m.WaitDead(launcher)
}

// Sleeper is a process that has nothing to do with any agent, with a child of its own.
func (m *Team) Sleeper() (pid, child int) {
	m.Helper()
	cmd := exec.Command("sh", "-c", "sleep 600 & echo $!; wait")
	cmd.Env = []string{"PATH=" + os.Getenv("PATH")}
	out := &LockedBuffer{}
	cmd.Stdout = out
	m.Must(cmd.Start())
	m.WaitFor("the sleeper sleeps", func() (bool, string) { return strings.HasSuffix(out.String(), "\n"), out.String() })
	child, err := strconv.Atoi(strings.TrimSpace(out.String()))
	m.Must(err)
	m.Cleanup(func() {
		_ = syscall.Kill(child, syscall.SIGKILL)
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	return cmd.Process.Pid, child
}

// LockedBuffer takes the output of a process while a test reads it.
type LockedBuffer struct {
	Mu   sync.Mutex
	Text bytes.Buffer
}

func (b *LockedBuffer) Write(p []byte) (int, error) {
	b.Mu.Lock()
	defer b.Mu.Unlock()
	return b.Text.Write(p)
}

func (b *LockedBuffer) String() string {
	b.Mu.Lock()
	defer b.Mu.Unlock()
	return b.Text.String()
}

// A pid means something only within its boot and its namespace, and is used again.

// Namespace is a pid namespace with a /proc of its own.
type Namespace struct {
	*Team
	Init string // its first process, as seen from outside
}

// InNamespace starts a pid namespace and moves the team's commands into it.
func (m *Team) InNamespace() *Namespace {
	m.Helper()
	rig.NeedsRoot(m)
	// The first process ignores SIGCHLD, so that the kernel reaps what it adopts.
	cmd := exec.Command("unshare", "--pid", "--fork", "--mount-proc", "--kill-child", "env", "--ignore-signal=CHLD", "cat")
	stdin, err := cmd.StdinPipe()
	m.Must(err)
	m.Must(cmd.Start())
	m.Cleanup(func() {
		_ = stdin.Close() // with its first process all of the namespace ends
		_ = cmd.Wait()
	})
	n := &Namespace{Team: m}
	m.WaitFor("the namespace is there", func() (bool, string) {
		children, _ := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", cmd.Process.Pid, cmd.Process.Pid))
		n.Init = strings.TrimSpace(string(children))
		name, _ := os.ReadFile("/proc/" + n.Init + "/comm")
		return string(name) == "cat\n", string(name)
	})
	m.Worker = m.Program("nbs-worker", fmt.Sprintf(`exec nsenter --target %s --pid --mount --wd="$PWD" -- %s "$@"`, n.Init, m.Worker))
	return n
}

// Sh runs a script inside and returns its output.
func (n *Namespace) Sh(script string, args ...string) string {
	n.Helper()
	cmd := exec.Command("nsenter", append([]string{"--target", n.Init, "--pid", "--mount", "--", "sh", "-c", script, "sh"}, args...)...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		n.Fatalf("%s %q: %v: %s", script, args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// Stranger takes a pid that has become free, and returns what must not change.
func (n *Namespace) Stranger(pid int) (identity func() string) {
	n.Helper()
	at := strconv.Itoa(pid)
	n.WaitFor("pid "+at+" is taken", func() (bool, string) {
		// A thread may have come between: then another try.
		got := n.Sh(`echo $(($1 - 1)) >/proc/sys/kernel/ns_last_pid; setsid sleep 600 >/dev/null 2>&1 & echo $!`, at)
		if got != at {
			n.Sh(`kill -KILL "$1"`, got)
		}
		return got == at, got
	})
	n.WaitFor("it sleeps", func() (bool, string) {
		name := n.Sh(`cat /proc/$1/comm`, at)
		return name == "sleep", name
	})
	return func() string { return n.Sh(`cut -d " " -f 1,2,22 /proc/$1/stat`, at) }
}
