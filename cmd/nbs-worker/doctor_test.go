package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
)

func TestDoctorFindsNothingWhenAllIsWell(t *testing.T) {
	eachVersion(t, func(_ *testing.T, m *team) {
		m.remembers("alpha")
		scratch := m.folder("scratch")
		m.env = append(m.env, "TMPDIR="+scratch)
		before := m.everything(m.inNbs())
		for _, found := range m.doctor(0).Checks {
			m.check(found.Level == "ok" || strings.HasPrefix(found.ID, "logout.") || strings.HasPrefix(found.ID, "machine.") || found.ID == "folder.disk", "%+v", found)
		}
		m.mustBeAsBefore(m.inNbs(), before, agentsOwn...)
		left := m.everything(scratch)
		m.check(len(left) == 1, "left in the scratch folder: %v", left)
		text := m.ok("doctor")
		m.check(strings.Contains(text, " checks: ") && !strings.Contains(text, "warning"), "%s", text)
	})
}

// The probe is a real start with the settings of an agent, and leaves nothing.
func TestDoctorProbesTheRealClaude(t *testing.T) {
	eachVersion(t, func(_ *testing.T, m *team) {
		scratch := m.folder("scratch")
		m.env = append(m.env, "TMPDIR="+scratch)
		before := m.everything(m.world.ConfigDir)
		c := m.doctor(0, "--probe")
		c.isWell(m, "claude.probe", "claude.flags", "claude.version", "tmux.trial")
		m.mustBeAsBefore(m.world.ConfigDir, before)
		left := m.everything(scratch)
		m.check(len(left) == 1, "left in the scratch folder: %v", left)
		for _, pid := range allPIDs() {
			environ, _ := os.ReadFile(procFile(pid, "environ"))
			m.check(!strings.Contains(valueIn(environ, "CLAUDE_CONFIG_DIR"), scratch) || dead(pid), "process %d is left", pid)
		}
		m.check(len(m.api.Requests()) == 0, "it sent %d requests", len(m.api.Requests()))
	})
}

func TestDoctorProbeFindsAClaudeThatIsNotTheOneWeKnow(t *testing.T) {
	m := standIn(t)
	claude := m.variable("NBS_CLAUDE")
	deaf := m.script(`[ $# -gt 1 ] || exec ` + claude + ` "$@"
exec ` + claude + ` "$1" "$2"`) // without our settings
	c := m.doctorWith([]string{"NBS_CLAUDE=" + deaf}, 6, "--probe")
	c.finds(m, "claude.probe", "failure", "did not run the hook SessionStart")
	c.finds(m, "claude.probe", "warning", "did not run the status line")
	gone := m.script(`[ $# -gt 1 ] || exec ` + claude + ` "$@"
exit 3`)
	m.doctorWith([]string{"NBS_CLAUDE=" + gone}, 6, "--probe").finds(m, "claude.probe", "failure", "did not enter itself into its registry")
}

// Whoever interrupts it is told so, and nothing of the probe is left.
func TestDoctorInterrupted(t *testing.T) {
	m := standIn(t)
	scratch := m.folder("scratch")
	m.env = append(m.env, "TMPDIR="+scratch)
	run := m.begin("doctor", "--probe")
	entries := filepath.Join(scratch, "nbs-doctor-*", "probe", "sessions", "*.json")
	var probe int
	m.waitFor("the probe runs", func() (bool, string) {
		found, _ := filepath.Glob(entries)
		if len(found) > 0 {
			probe, _ = strconv.Atoi(strings.TrimSuffix(filepath.Base(found[0]), ".json"))
		}
		return probe > 0, fmt.Sprint(found)
	})
	m.must(run.Process.Signal(syscall.SIGINT))
	r := run.end()
	m.check(r.code == 130, "%s", r)
	if left, _ := filepath.Glob(filepath.Join(scratch, "*")); len(left) > 0 || !dead(probe) {
		t.Errorf("left: %q, process %d: dead %v", left, probe, dead(probe))
	}
}

// A claude that does not leave when its terminal is gone is not left behind.
func TestDoctorEndsAProbeThatWillNotLeave(t *testing.T) {
	m := standIn(t)
	claude := m.variable("NBS_CLAUDE")
	note := filepath.Join(m.world.Root, "pid")
	stays := m.script(`[ $# -gt 1 ] || exec ` + claude + ` "$@"
trap "" HUP TERM
echo $$ >` + note + `
` + claude + ` "$@"
while :; do sleep 0.2; done`)
	m.nbsWith([]string{"NBS_CLAUDE=" + stays}, "doctor", "--probe")
	pid, err := strconv.Atoi(strings.TrimSpace(read(t, note)))
	m.must(err)
	if !dead(pid) {
		t.Errorf("process %d is left", pid)
		m.kill(pid, syscall.SIGKILL)
	}
}

func TestDoctorWithoutAProject(t *testing.T) {
	m := standIn(t)
	m.dir = m.otherProject()
	before := m.everything(m.dir)
	c := m.doctor(0)
	c.finds(m, "folder.project", "note", "there is no project here")
	c.isWell(m, "claude.found", "tmux.trial", "team.unrecorded")
	m.check(c.of("left.files") == nil, "what there is not was looked at: %q", c.of("left.files"))
	m.mustBeAsBefore(m.dir, before)
}

func TestDoctorWithoutTmux(t *testing.T) {
	m := standIn(t)
	m.ok("spawn", "alpha", "--model", "sonnet")
	c := m.doctorWith([]string{"PATH=" + m.pathWithout("tmux")}, 6)
	c.finds(m, "tmux.version", "failure", "apt-get install tmux")
	c.isWell(m, "claude.found", "team.records", "folder.locks")
	m.nbs("stop", "alpha")
}

// A tmux that is too old, forgets the mark of a session, or finds it by a part of its name.
func TestDoctorKnowsAnUnfitTmux(t *testing.T) {
	m := standIn(t)
	for _, c := range []struct{ script, id, words string }{
		{`for word; do [ "$word" = -V ] && { echo "tmux 3.1c"; exit; }; done`, "tmux.version", "tmux 3.1c is too old: 3.2 is needed"},
		{`case " $* " in *" has-session "*) exit 0;; esac`, "tmux.trial", "found by a part of its name"},
		{`case " $* " in *" list-panes "*) echo '1|$1|%1|1|0|0|1||||nbs-alpha-live'; exit 0;; esac`, "tmux.trial", "has lost its mark"},
	} {
		m.doctorWith([]string{m.beforeTmux(c.script)}, 6).finds(m, c.id, "failure", c.words)
	}
}

func TestDoctorKnowsAnUnfitClaude(t *testing.T) {
	m := standIn(t)
	none := m.doctorWith([]string{"NBS_CLAUDE=/nonexistent/claude"}, 6)
	none.finds(m, "claude.found", "failure", "cannot be run")
	none.isWell(m, "tmux.trial")
	claude := m.variable("NBS_CLAUDE")
	for _, c := range []struct {
		script           string
		code             int
		id, level, words string
	}{
		{"exec env NBS_SIM_CLAUDE=version=2.1.100 " + claude + ` "$@"`, 1, "claude.version", "warning", "2.1.100 is older than 2.1.197"},
		{`[ "$1" = --help ] && { ` + claude + ` --help | sed s/--settings/--setting/; exit; }; exec ` + claude + ` "$@"`, 6, "claude.flags", "failure", "does not know --settings"},
		{"exit 3", 6, "claude.version", "failure", "does not say its version"},
		{"echo I am a poet", 6, "claude.version", "warning", "is not a version of Claude Code"},
	} {
		m.doctorWith([]string{"NBS_CLAUDE=" + m.script(c.script)}, c.code).finds(m, c.id, c.level, c.words)
	}
}

func TestDoctorKnowsRootWithoutSandbox(t *testing.T) {
	m := standIn(t)
	if os.Geteuid() != 0 {
		m.doctorWith([]string{"IS_SANDBOX=0"}, 0).isWell(m, "claude.root")
		return
	}
	m.doctorWith([]string{"IS_SANDBOX=0"}, 1).finds(m, "claude.root", "warning", "export IS_SANDBOX=1")
	m.ok("spawn", "alpha", "--model", "sonnet")
	m.ok("spawn", "beta", "--model", "sonnet", "--permission-mode", "plan")
	m.doctorWith([]string{"IS_SANDBOX=0"}, 1).finds(m, "claude.root", "failure", "refuse to start alpha: they bypass")
}

// What it prints for people: the finding, why it matters, and a command that can be pasted.
func TestDoctorSpeaksToPeople(t *testing.T) {
	m := standIn(t)
	m.ok("spawn", "alpha", "--model", "sonnet")
	m.writeRecord("beta", "{")
	m.dir = m.otherProject()
	r := m.nbs("doctor", "--root", m.world.Project)
	m.mustSay(r.stdout, "Agents\n  failure  beta: the record ", "\n           the agent can be neither resumed nor ended\n",
		"\n           fix: keep the file and move it aside: mv '", "1 failure\n")
	m.check(r.code == 1 && !strings.Contains(r.stdout, "  ok "), "%s", r)
	m.mustSay(m.nbs("doctor", "--root", m.world.Project, "--all").stdout, "  ok       claude is "+m.variable("NBS_CLAUDE"))
}

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
	m.checkup(r, anyCode).isWell(m, "left.leases", "team.unrecorded", "team.sessions", "team.records")
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
