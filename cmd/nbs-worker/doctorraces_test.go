package main

import (
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// What doctor says beside other verbs. The moments are made, not hoped for.

// Six at once each try tmux, and none takes a process that is not its own program yet for one
// that has lost its variables.
func TestSixDoctorsAtOnce(t *testing.T) {
	m := standIn(t)
	m.ok("spawn", "alpha")
	var doctors sync.WaitGroup
	for range 6 {
		doctors.Go(func() {
			r := m.nbs("doctor", "--json")
			m.check(r.code == 0, "%s", r)
		})
	}
	doctors.Wait()
}

// Between its fork and its exec the process in a new pane has the variables of tmux, and not
// yet those that it is given.
func TestDoctorWaitsForTheProgramOfATrial(t *testing.T) {
	m := standIn(t)
	tmux, err := exec.LookPath("tmux")
	m.must(err)
	late := m.beforeTmux(`exec strace -D -f -qqq -o /dev/null -e trace=execve -e inject=execve:delay_enter=50000 -- ` + tmux + ` "$@"`)
	m.doctorWith([]string{late}, anyCode).isWell(m, "tmux.trial")
}

// A verb that is at work on an agent is left alone, whatever its start looks like from outside.
func TestDoctorLeavesAStartAlone(t *testing.T) {
	m := standIn(t, "start-delay=2s")
	spawn := m.begin("spawn", "alpha")
	m.waitClaude("alpha")
	r := m.nbs("doctor", "--json")
	m.checkup(r, anyCode).isWell(m, "left.leases", "left.signatures", "team.unrecorded", "team.sessions", "team.records")
	m.check(!strings.Contains(r.stdout, "kill "), "it advises to kill what starts: %s", r.stdout)
	got := spawn.end()
	m.check(got.code == 0, "%s", got)
}

// What is there at the first look and gone at the second was another command at work.
func TestDoctorLooksTwice(t *testing.T) {
	m := standIn(t)
	m.ok("spawn", "alpha")
	m.ok("stop", "alpha")
	// A record that cannot be read, for the time of the first look: whoever reads it takes it away.
	path := m.recordPath("alpha")
	whole := m.bytesOf(path)
	m.replace(path, whole[:10])
	temp := m.folder("temp")
	doctor := m.beginWith([]string{"TMPDIR=" + temp}, "doctor", "--json")
	scratch := func() int {
		made, _ := filepath.Glob(filepath.Join(temp, "nbs-doctor-*"))
		return len(made)
	}
	m.waitFor("it has made its scratch folder again", func() (bool, string) { return scratch() > 0, "" })
	m.waitFor("the first look is over", func() (bool, string) { return scratch() == 0, "" })
	m.replace(path, whole)
	m.checkup(doctor.end(), anyCode).isWell(m, "team.records")
}
