package slurm

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"nbs-worker/internal/sim/hosts/boot"
	"nbs-worker/internal/sim/rig"
)

// Cluster is one controller with its nodes.
type Cluster struct {
	Bin   string // a folder for the front of the PATH, with sbatch, squeue and the like
	Local string // a folder in which each node has its own files, for TMPDIR

	t          testing.TB
	dir, home  string
	tree       string // where the packages are
	controller *exec.Cmd
	nodes      map[string]*node
}

type node struct {
	name, port string
	init       *exec.Cmd // nil while it is down
	says       bytes.Buffer
}

// Start makes a cluster whose nodes have these names. home is that of its user. A node that does not answer for the time
// of lostAfter counts as lost.
func Start(t testing.TB, home string, lostAfter time.Duration, names ...string) *Cluster {
	t.Helper()
	rig.NeedsRoot(t)
	rig.Needs(t, "nsenter")
	c := &Cluster{t: t, dir: rig.ShortDir(t), home: home, tree: unpacked(t), nodes: map[string]*node{}}
	c.Bin, c.Local = c.file("bin"), c.file("local")
	rig.Must(t, os.Mkdir(c.Local, 0o700))
	nameLoopback(t)
	var lines strings.Builder
	for _, name := range names {
		n := &node{name: name, port: freePort()}
		c.nodes[name] = n
		fmt.Fprintf(&lines, "NodeName=%s NodeAddr=127.0.0.1 Port=%s CPUs=1 RealMemory=1000 State=UNKNOWN\n", name, n.port)
	}
	c.write("slurm.conf", c.config(freePort(), lostAfter)+lines.String()+
		"PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP OverSubscribe=FORCE:200\n")
	c.write("passwd", c.users())
	rig.Must(t, os.Mkdir(c.file("state"), 0o700))
	c.makeCommands()
	t.Cleanup(c.end)
	c.StartController()
	for _, name := range names {
		c.Boot(name)
	}
	rig.WaitFor(t, "the nodes answer", func() (bool, string) {
		out, _ := c.Command("sinfo", "-h", "-t", "idle", "-o", "%D").CombinedOutput()
		return strings.TrimSpace(string(out)) == strconv.Itoa(len(names)), string(out)
	})
	return c
}

func (c *Cluster) file(name string) string { return filepath.Join(c.dir, name) }

func (c *Cluster) write(name, text string) {
	c.t.Helper()
	rig.Must(c.t, os.WriteFile(c.file(name), []byte(text), 0o600))
}

// Command prepares one of Slurm's commands.
func (c *Cluster) Command(name string, args ...string) *exec.Cmd {
	return exec.Command(filepath.Join(c.Bin, name), args...)
}

// Run runs one of Slurm's commands, which must succeed, and returns what it prints.
func (c *Cluster) Run(name string, args ...string) string {
	c.t.Helper()
	out, err := c.Command(name, args...).CombinedOutput()
	if err != nil {
		c.t.Fatalf("%s %q: %v\n%s", name, args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// StartController starts the controller, with what an earlier one has saved.
func (c *Cluster) StartController() {
	c.t.Helper()
	c.controller = exec.Command(filepath.Join(c.tree, "usr/sbin/slurmctld-wlm"), "-D", "-f", c.file("slurm.conf"))
	c.controller.Env = append(os.Environ(), c.libraries())
	rig.Must(c.t, c.controller.Start())
	rig.WaitFor(c.t, "the controller answers", func() (bool, string) {
		out, err := c.Command("scontrol", "ping").CombinedOutput()
		return err == nil && bytes.Contains(out, []byte("is UP")), string(out)
	})
}

// Save returns when the controller has saved what it knows of a job. It does that some seconds after each change.
func (c *Cluster) Save(job string) {
	c.t.Helper()
	begun := time.Now()
	c.Run("scontrol", "update", "jobid="+job, "comment=save")
	rig.WaitFor(c.t, "the controller saves its state", func() (bool, string) {
		info, err := os.Stat(c.file("state/job_state"))
		return err == nil && info.ModTime().After(begun), fmt.Sprint(err)
	})
}

// KillController ends the controller as kill -9 does.
func (c *Cluster) KillController() {
	_ = c.controller.Process.Kill()
	_ = c.controller.Wait()
}

// Boot switches a node on.
func (c *Cluster) Boot(name string) {
	c.t.Helper()
	n := c.nodes[name]
	c.write(name+".boot_id", newBootID())
	machine := boot.Machine{
		Name:  name,
		Files: []boot.File{{Path: "/proc/sys/kernel/random/boot_id", Is: c.file(name + ".boot_id")}, {Path: "/etc/passwd", Is: c.file("passwd")}},
		Empty: []string{"/run", "/var/log", c.Local},
		Programs: [][]string{{ // slurmd gives its own input to what it starts
			"/bin/sh", "-c", `exec "$@" </dev/null`, "sh", "/usr/bin/env", c.libraries(), filepath.Join(c.tree, "usr/sbin/slurmd-wlm"),
			"-D", "-N", name, "-d", filepath.Join(c.tree, "usr/sbin/slurmstepd-wlm"), "-f", c.file("slurm.conf"),
		}},
	}
	text, err := json.Marshal(machine)
	rig.Must(c.t, err)
	c.write(name+".json", string(text))
	n.init = exec.Command(rig.Sim(c.t), "boot", c.file(name+".json"))
	n.init.Env, n.init.Dir = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + c.home}, c.home
	n.init.Stdout, n.init.Stderr = &n.says, &n.says
	n.init.SysProcAttr = rig.OwnMachine()
	rig.Must(c.t, n.init.Start())
}

// Lose takes the power from a node: its slurmd and all its jobs end at once.
func (c *Cluster) Lose(name string) {
	n := c.nodes[name]
	if n.init == nil {
		return
	}
	_ = n.init.Process.Kill() // with it the kernel kills all others of its namespace
	_ = n.init.Wait()
	n.init = nil
}

// Entrance writes a program that does at a node what another program does there, in the folder in which it is called.
func (c *Cluster) Entrance(name, program string) string {
	c.t.Helper()
	syscall.ForkLock.RLock() // a child of another test must not hold a script open while it is run
	defer syscall.ForkLock.RUnlock()
	path := "at-" + name
	c.write(path, fmt.Sprintf("#!/bin/sh\nexec nsenter --target %d --mount --uts --pid --wdns=\"$PWD\" -- %s \"$@\"\n", c.nodes[name].init.Process.Pid, program))
	rig.Must(c.t, os.Chmod(c.file(path), 0o700)) // it is run
	return c.file(path)
}

func (c *Cluster) end() {
	for name := range c.nodes {
		c.Lose(name)
	}
	c.KillController()
	if !c.t.Failed() {
		return
	}
	logs, _ := filepath.Glob(c.file("*.log")) // the pattern is well formed
	for _, path := range logs {
		text, _ := os.ReadFile(path)
		const enough = 3000
		c.t.Logf("%s: ...%s", path, text[max(0, len(text)-enough):])
	}
}

// ports are the last port that was given out. A port of the range from which the kernel takes those of connections could
// be taken before its program listens.
var ports atomic.Int32

// freePort returns a port of the isolated loopback interface, which only this process gives out.
func freePort() string {
	const first = 7000
	return strconv.Itoa(first + int(ports.Add(1)))
}

// newBootID is like the kernel's.
func newBootID() string {
	b := make([]byte, 16)
	_, _ = rand.Read(b) // it never fails
	return fmt.Sprintf("%x-%x-%x-%x-%x\n", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

// Signal sends a signal to a process of a node, by its number there.
func (c *Cluster) Signal(name string, pid int, signal syscall.Signal) error {
	target := strconv.Itoa(c.nodes[name].init.Process.Pid)
	return exec.Command("nsenter", "--target", target, "--mount", "--pid", "--", "kill", "-"+strconv.Itoa(int(signal)), strconv.Itoa(pid)).Run()
}
