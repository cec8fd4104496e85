package security

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"nbs-worker/internal/e2e"
)

// pasteHints runs the commands of the hints in a shell, as a person would.
func (m *team) pasteHints(r e2e.Result) {
	m.Helper()
	for line := range strings.Lines(r.Stderr) {
		hint, isHint := strings.CutPrefix(line, "hint: ")
		_, command, hasCommand := strings.Cut(hint, ": ")
		if !isHint || !hasCommand {
			continue
		}
		m.paste(command)
	}
}

// paste runs a command in a shell, which must succeed.
func (m *team) paste(command string) {
	m.Helper()
	sh := exec.Command("sh", "-eu", "-c", command)
	sh.Dir, sh.Env = m.Dir, m.Env
	m.MustRun(sh)
}

func TestUnknownFieldsSurviveEveryVerb(t *testing.T) {
	m := standIn(t)
	before := m.StoppedAlpha()
	m.SetRecord("alpha", func(fields map[string]any) {
		fields["mood"] = map[string]any{"calm": true, "<&>": 1.5}
		fields["restart"].(map[string]any)["max"] = 3.0
	})
	mustHaveThem := func(after string) {
		m.Helper()
		fields := m.Record("alpha")
		got := fmt.Sprint(fields["mood"], fields["restart"].(map[string]any)["max"])
		m.Check(got == "map[<&>:1.5 calm:true] 3", "after %s: %s", after, got)
	}
	for _, args := range [][]string{
		{"stop", "alpha"}, {"resume", "alpha", "--model", "haiku"}, {"resume", "alpha", "--force"}, {"stop", "alpha"}, {"session", "alpha"},
	} {
		m.OK(args...)
		mustHaveThem(strings.Join(args, " "))
	}
	m.OK("resume", "alpha", "--prompt", "What number?")
	m.MustAnswer("alpha", "42")
	m.Kill(m.Session("alpha").RecordedPID, syscall.SIGKILL)
	m.WaitState("alpha", "crashed")
	mustHaveThem("a crash")
	id := m.Record("alpha")["session_id"]
	m.Check(id == before.SessionID, "another conversation: %v", id)
}

// A gigabyte is refused without being read.
func TestRecordOfAGigabyte(t *testing.T) {
	m := standIn(t)
	m.StoppedAlpha()
	m.OK("spawn", "beta")
	m.mustBeFrugal("session", "beta")
	whole := m.RecordText("alpha")
	for _, name := range []string{"sessions/alpha.json", "journal.jsonl", "locks/alpha.verb", "locks/alpha.record"} {
		m.Must(os.WriteFile(m.InNbs(name), nil, 0o600))
		m.Must(os.Truncate(m.InNbs(name), 1<<30))
	}
	for _, verb := range knownVerbs {
		r := m.mustBeFrugal(verb, "alpha")
		m.MustRefuse(r, 4, "sessions/alpha.json\" is damaged: larger than 4194304 bytes")
	}
	r := m.mustBeFrugal("list")
	m.MustRefuse(r, 7, "is damaged: larger than")
	m.mustBeFrugal("spawn", "alpha")
	info, err := os.Stat(m.RecordPath("alpha"))
	m.Check(err == nil && info.Size() == 1<<30, "the file was changed: %v, %v", info, err)
	m.WriteRecord("alpha", whole)
	r = m.mustBeFrugal("resume", "alpha")
	m.Check(r.Code == 0, "%v", r)
}

// mustBeFrugal runs a command that must need neither much time nor much memory.
func (m *team) mustBeFrugal(args ...string) e2e.Result {
	m.Helper()
	cmd := m.Command(args)
	begun := time.Now()
	r := m.Finish(cmd)
	memory := cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss / 1024
	m.Logf("%q: %d MB, %s", args, memory, time.Since(begun).Round(time.Millisecond))
	// The test's own counts as the child's until it has become the command.
	var own syscall.Rusage
	m.Must(syscall.Getrusage(syscall.RUSAGE_SELF, &own))
	limit := max(64, own.Maxrss/1024)
	m.Check(memory <= limit, "%q took %d MB", args, memory)
	m.InTime(time.Since(begun), 10*time.Second)
	return r
}
