package main

import (
	"encoding/json"
	"os"
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
			if r.code != 0 {
				t.Error(r)
			}
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
	r := m.nbsWith([]string{late}, "doctor", "--json")
	var c checkup
	if err := json.Unmarshal([]byte(r.stdout), &c); err != nil {
		t.Fatal(err, r)
	}
	c.isWell(m, "tmux.trial")
}

// A verb that is at work on an agent is left alone, whatever its start looks like from outside.
func TestDoctorLeavesAStartAlone(t *testing.T) {
	m := standIn(t, "start-delay=2s")
	spawn := m.begin("spawn", "alpha")
	m.waitClaude("alpha")
	r := m.nbs("doctor", "--json")
	var c checkup
	if err := json.Unmarshal([]byte(r.stdout), &c); err != nil {
		t.Fatal(err, r)
	}
	for _, id := range []string{"left.leases", "left.signatures", "team.unrecorded", "team.sessions", "team.records"} {
		c.isWell(m, id)
	}
	if strings.Contains(r.stdout, "kill ") {
		t.Errorf("it advises to kill what starts: %s", r.stdout)
	}
	if got := spawn.end(); got.code != 0 {
		t.Error(got)
	}
}

// What is there at the first look and gone at the second was another command at work.
func TestDoctorLooksTwice(t *testing.T) {
	m := standIn(t)
	m.ok("spawn", "alpha")
	m.ok("stop", "alpha")
	// A record that cannot be read, for the time of the first look: whoever reads it takes it away.
	path := m.recordPath("alpha")
	whole := m.bytesOf(path)
	m.must(os.Remove(path))
	m.must(os.WriteFile(path, whole[:10], 0o600))
	temp := m.folder("temp")
	doctor := m.beginWith([]string{"TMPDIR=" + temp}, "doctor", "--json")
	m.waitFor("it has made its scratch folder again", func() (bool, string) {
		made, _ := filepath.Glob(filepath.Join(temp, "nbs-doctor-*"))
		return len(made) > 0, ""
	})
	m.waitFor("the first look is over", func() (bool, string) {
		made, _ := filepath.Glob(filepath.Join(temp, "nbs-doctor-*"))
		return len(made) == 0, ""
	})
	m.replace(path, whole)
	r := doctor.end()
	var c checkup
	if err := json.Unmarshal([]byte(r.stdout), &c); err != nil {
		t.Fatal(err, r)
	}
	c.isWell(m, "team.records")
}
