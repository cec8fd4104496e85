package recover

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"nbs-worker/internal/e2e"
)

func TestDoctorFindsNothingWhenAllIsWell(t *testing.T) {
	m := standIn(t)
	m.Remembers("alpha")
	scratch := m.Folder("scratch")
	m.Env = append(m.Env, "TMPDIR="+scratch)
	before := m.everything(m.InNbs())
	m.doctorFindsNothing()
	m.mustBeAsBefore(m.InNbs(), before, agentsOwn...)
	left := m.everything(scratch)
	m.Check(len(left) == 1, "left in the scratch folder: %v", left)
	text := m.OK("doctor")
	m.Check(strings.Contains(text, " checks: ") && !strings.Contains(text, "warning"), "%s", text)
}

// doctorFindsNothing checks that the doctor finds nothing but what the machine is.
func (m *team) doctorFindsNothing() {
	m.Helper()
	for _, found := range m.Doctor(0).Checks {
		m.Check(found.Level == "ok" || strings.HasPrefix(found.ID, "logout.") || found.ID == "folder.disk", "%+v", found)
	}
}

// The probe is a real start with the settings of an agent, and leaves nothing.
func TestDoctorProbesTheRealClaude(t *testing.T) {
	m := eachVersion(t)
	scratch := m.Folder("scratch")
	m.Env = append(m.Env, "TMPDIR="+scratch)
	before := m.everything(m.World.ConfigDir)
	c := m.Doctor(0, "--probe")
	c.IsWell(m.Team, "claude.probe", "claude.version")
	m.mustBeAsBefore(m.World.ConfigDir, before)
	left := m.everything(scratch)
	m.Check(len(left) == 1, "left in the scratch folder: %v", left)
	for _, pid := range e2e.AllPIDs() {
		environ, _ := os.ReadFile(e2e.ProcFile(pid, "environ"))
		m.Check(!strings.Contains(e2e.ValueIn(environ, "CLAUDE_CONFIG_DIR"), scratch) || e2e.Dead(pid), "process %d is left", pid)
	}
	m.Check(len(m.API.Requests()) == 0, "it sent %d requests", len(m.API.Requests()))
}

func TestDoctorProbeFindsAClaudeThatIsNotTheOneWeKnow(t *testing.T) {
	m := standIn(t)
	claude := m.Variable("NBS_CLAUDE")
	deaf := m.Script(`[ $# -gt 1 ] || exec ` + claude + ` "$@"
exec ` + claude + ` "$1" "$2"`) // without our settings
	c := m.DoctorWith([]string{"NBS_CLAUDE=" + deaf}, 6, "--probe")
	c.Finds(m.Team, "claude.probe", "failure", "did not run the hook SessionStart")
	c.Finds(m.Team, "claude.probe", "warning", "did not run the status line")
	gone := m.Script(`[ $# -gt 1 ] || exec ` + claude + ` "$@"
exit 3`)
	m.DoctorWith([]string{"NBS_CLAUDE=" + gone}, 6, "--probe").Finds(m.Team, "claude.probe", "failure", "did not enter itself into Claude's registry")
}

// Whoever interrupts it is told so, and nothing of the probe is left.
func TestDoctorInterrupted(t *testing.T) {
	m := standIn(t)
	scratch := m.Folder("scratch")
	m.Env = append(m.Env, "TMPDIR="+scratch)
	run := m.Begin("doctor", "--probe")
	entries := filepath.Join(scratch, "nbs-doctor-*", "probe", "sessions", "*.json")
	var probe int
	m.WaitFor("the probe runs", func() (bool, string) {
		found, _ := filepath.Glob(entries)
		if len(found) > 0 {
			probe, _ = strconv.Atoi(strings.TrimSuffix(filepath.Base(found[0]), ".json"))
		}
		return probe > 0, fmt.Sprint(found)
	})
	m.Must(run.Process.Signal(syscall.SIGINT))
	r := run.End()
	m.Check(r.Code == 130, "%s", r)
	if left, _ := filepath.Glob(filepath.Join(scratch, "*")); len(left) > 0 || !e2e.Dead(probe) {
		t.Errorf("left: %q, process %d: dead %v", left, probe, e2e.Dead(probe))
	}
}

// A claude that does not leave when its terminal is gone is not left behind.
func TestDoctorEndsAProbeThatWillNotLeave(t *testing.T) {
	m := standIn(t)
	claude := m.Variable("NBS_CLAUDE")
	note := filepath.Join(m.World.Root, "pid")
	stays := m.Script(`[ $# -gt 1 ] || exec ` + claude + ` "$@"
trap "" HUP TERM
echo $$ >` + note + `
` + claude + ` "$@"
while :; do sleep 0.2; done`)
	m.NBSWith([]string{"NBS_CLAUDE=" + stays}, "doctor", "--probe")
	pid, err := strconv.Atoi(strings.TrimSpace(e2e.Read(t, note)))
	m.Must(err)
	if !e2e.Dead(pid) {
		t.Errorf("process %d is left", pid)
		m.Kill(pid, syscall.SIGKILL)
	}
}

func TestDoctorKnowsAnUnfitTmux(t *testing.T) {
	m := standIn(t)
	old := m.BeforeTmux(`for word; do [ "$word" = -V ] && { echo "tmux 3.1c"; exit; }; done`)
	m.DoctorWith([]string{old}, 6).Finds(m.Team, "tmux.version", "failure", "tmux 3.1c is too old: 3.2 is needed")
}

func TestDoctorKnowsAnUnfitClaude(t *testing.T) {
	m := standIn(t)
	m.DoctorWith([]string{"NBS_CLAUDE=/nonexistent/claude"}, 6).Finds(m.Team, "claude.found", "failure", "cannot be run")
	claude := m.Variable("NBS_CLAUDE")
	for _, c := range []struct {
		script           string
		code             int
		id, level, words string
	}{
		{"exec env NBS_SIM_CLAUDE=version=2.1.100 " + claude + ` "$@"`, 1, "claude.version", "warning", "2.1.100 is older than 2.1.197"},
		{"exit 3", 6, "claude.version", "failure", "does not print its version"},
		{"echo I am a poet", 1, "claude.version", "warning", "does not print a version of Claude Code"},
	} {
		m.DoctorWith([]string{"NBS_CLAUDE=" + m.Script(c.script)}, c.code).Finds(m.Team, c.id, c.level, c.words)
	}
}

func TestDoctorKnowsRootWithoutSandbox(t *testing.T) {
	m := standIn(t)
	if os.Geteuid() != 0 {
		m.DoctorWith([]string{"IS_SANDBOX=0"}, 0).IsWell(m.Team, "claude.root")
		return
	}
	m.DoctorWith([]string{"IS_SANDBOX=0"}, 1).Finds(m.Team, "claude.root", "warning", "export IS_SANDBOX=1")
	m.OK("spawn", "alpha", "--model", "sonnet")
	m.OK("spawn", "beta", "--model", "sonnet", "--permission-mode", "plan")
	m.DoctorWith([]string{"IS_SANDBOX=0"}, 1).Finds(m.Team, "claude.root", "failure", "refuse to start alpha: they bypass")
}

// What doctor says beside other verbs. The moments are made, not hoped for.

// A verb that is at work on an agent is left alone, whatever its start looks like from outside.
func TestDoctorLeavesAStartAlone(t *testing.T) {
	m := standIn(t, "start-delay=2s")
	spawn := m.Begin("spawn", "alpha")
	m.WaitClaude("alpha")
	r := m.NBS("doctor", "--json")
	m.Checkup(r, e2e.AnyCode).IsWell(m.Team, "team.unrecorded", "team.sessions", "team.health")
	m.Check(!strings.Contains(r.Stdout, "kill "), "it advises to kill what starts: %s", r.Stdout)
	got := spawn.End()
	m.Check(got.Code == 0, "%s", got)
}

// What is there at the first look and gone at the second was another command at work.
func TestDoctorLooksTwice(t *testing.T) {
	m := standIn(t)
	m.OK("spawn", "alpha")
	m.OK("stop", "alpha")
	// A record that cannot be read, for the time of the first look: whoever reads it takes it away.
	path := m.RecordPath("alpha")
	whole := m.BytesOf(path)
	m.Replace(path, whole[:10])
	temp := m.Folder("temp")
	doctor := m.BeginWith([]string{"TMPDIR=" + temp}, "doctor", "--json")
	scratch := func() int {
		made, _ := filepath.Glob(filepath.Join(temp, "nbs-doctor-*"))
		return len(made)
	}
	m.WaitFor("it has made its scratch folder again", func() (bool, string) { return scratch() > 0, "" })
	m.WaitFor("the first look is over", func() (bool, string) { return scratch() == 0, "" })
	m.Replace(path, whole)
	m.Checkup(doctor.End(), e2e.AnyCode).IsWell(m.Team, "team.health")
}
