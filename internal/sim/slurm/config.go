package slurm

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"nbs-worker/internal/sim/rig"
)

// unpacked is the folder in which the packages of Slurm are.
func unpacked(t testing.TB) string {
	t.Helper()
	dir := filepath.Join(rig.Root(t), ".cache", "debian", "slurm")
	if _, err := os.Stat(filepath.Join(dir, "usr/sbin/slurmctld-wlm")); err != nil {
		t.Fatalf("Slurm is missing: %v\nrun: scripts/bootstrap slurm", err)
	}
	return dir
}

// plugins is the folder of Slurm's own libraries.
func (c *Cluster) plugins() string {
	found, _ := filepath.Glob(filepath.Join(c.tree, "usr/lib/*-linux-gnu/slurm-wlm")) // the pattern is well formed
	return strings.Join(found, ":")
}

func (c *Cluster) libraries() string {
	return "LD_LIBRARY_PATH=" + c.plugins() + ":" + filepath.Dir(c.plugins())
}

// config has no munge: the cluster is one user's. A job that was put back into the queue may begin as soon as the
// credential of its last start is out of date.
func (c *Cluster) config(port string, lostAfter time.Duration) string {
	return fmt.Sprintf(`ClusterName=rig
SlurmctldHost=localhost(127.0.0.1)
SlurmctldPort=%[1]s
SlurmUser=root
SlurmdUser=root
AuthType=auth/none
CredType=cred/none
AuthInfo=cred_expire=5
PluginDir=%[2]s
StateSaveLocation=%[3]s/state
SlurmdSpoolDir=%[3]s/spool-%%n
SlurmctldPidFile=%[3]s/controller.pid
SlurmdPidFile=%[3]s/%%n.pid
SlurmctldLogFile=%[3]s/controller.log
SlurmdLogFile=%[3]s/%%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
JobAcctGatherType=jobacct_gather/none
SwitchType=switch/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SlurmdParameters=config_overrides
ReturnToService=2
SlurmdTimeout=%[4]d
KillWait=10
UnkillableStepTimeout=300
MailProg=/bin/true
SchedulerParameters=sched_interval=1,bf_interval=1
`, port, c.plugins(), c.dir, int(lostAfter.Seconds()))
}

// users is this machine's list with the cluster's home: a job begins with the environment of a login.
func (c *Cluster) users() string {
	text, err := os.ReadFile("/etc/passwd")
	rig.Must(c.t, err)
	users := []string{"root:x:0:0:root:" + c.home + ":/bin/sh"}
	for line := range strings.Lines(string(text)) {
		if name, _, _ := strings.Cut(line, ":"); name != "root" {
			users = append(users, strings.TrimSpace(line))
		}
	}
	return strings.Join(users, "\n") + "\n"
}

// makeCommands makes Slurm's commands callable without variables.
func (c *Cluster) makeCommands() {
	c.t.Helper()
	rig.Must(c.t, os.Mkdir(c.Bin, 0o700))
	programs, err := os.ReadDir(filepath.Join(c.tree, "usr/bin"))
	rig.Must(c.t, err)
	syscall.ForkLock.RLock() // see Entrance
	defer syscall.ForkLock.RUnlock()
	for _, program := range programs {
		text := fmt.Sprintf("#!/bin/sh\n%s SLURM_CONF=%s exec %s \"$@\"\n", c.libraries(), c.file("slurm.conf"), filepath.Join(c.tree, "usr/bin", program.Name()))
		rig.Must(c.t, os.WriteFile(filepath.Join(c.Bin, program.Name()), []byte(text), 0o700))
	}
}
