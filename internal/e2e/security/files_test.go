package security

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"nbs-worker/internal/e2e"
	"nbs-worker/internal/sim/rig"
)

// mustAllRefuse checks that each verb ends with the code and the words, with a hint and
// without changing the record.
func (m *team) mustAllRefuse(code int, words, hint string) {
	m.Helper()
	record := m.RecordText("alpha")
	for _, verb := range knownVerbs {
		r := m.Refused(code, words, verb, "alpha")
		m.Check(strings.Contains(r.Stderr, "hint: "+hint) && r.Stdout == "" && strings.Count(r.Stderr, "\n") <= 3, "%s: %s", verb, r)
	}
	if m.RecordText("alpha") != record {
		m.Errorf("the record was changed: %s", m.RecordText("alpha"))
	}
}

func TestRecordCutShort(t *testing.T) {
	m := standIn(t)
	before := m.StoppedAlpha()
	whole := m.RecordText("alpha")
	m.OK("spawn", "beta")
	m.WriteRecord("alpha", whole[:len(whole)-3])
	m.mustAllRefuse(4, "sessions/alpha.json\" is damaged: ", "keep the file and move it aside: mv '")
	m.MustSay(m.Refused(7, "list alpha: the record", "list").Stdout, "alpha\tunknown\t", "beta\tidle\t")
	m.Refused(5, "the handle is taken", "spawn", "alpha")
	// The way back is what the hints say.
	m.pasteHints(m.NBS("resume", "alpha"))
	m.OK("resume", "alpha", "--force", "--prompt", "What number?")
	m.MustAnswer("alpha", "42")
	after := m.Session("alpha")
	m.Check(after.SessionID == before.SessionID, "before %+v\nafter %+v", before, after)
}

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

func TestRecordOfANewerSchema(t *testing.T) {
	m := standIn(t)
	before := m.StoppedAlpha()
	m.SetRecord("alpha", func(fields map[string]any) { fields["schema"] = 2 })
	m.mustAllRefuse(6, "the record has schema 2, this nbs-worker knows 1", "use the newer nbs-worker that wrote it; nothing was changed")
	m.Refused(6, "list alpha: the record has schema 2", "list")
	m.SetRecord("alpha", func(fields map[string]any) { fields["schema"] = 1 })
	m.MustRemember("alpha", before)
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
		m.MustRefuse(r, 4, "sessions/alpha.json\" is damaged: larger than 1048576 bytes")
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

// A folder that others can write, and one of somebody else, which only root can make.
func TestFolderThatIsNotThisUsersAlone(t *testing.T) {
	m := standIn(t)
	before := m.StoppedAlpha()
	refuse := func(folder, words, hint string) {
		t.Helper()
		m.mustAllRefuse(4, words, hint+" '"+m.InNbs(folder)+"'")
		m.Refused(4, words, "list")
		m.Refused(4, words, "spawn", "beta")
	}
	folders := []string{"", "sessions", "locks", "status"}
	for _, folder := range folders {
		m.Must(os.Chmod(m.InNbs(folder), 0o770))
		refuse(folder, "can be written by other users (mode 0770)", "look at what is in it, then: chmod 700")
		m.pasteHints(m.NBS("session", "alpha"))
	}
	rig.NeedsRoot(t)
	for _, folder := range folders {
		m.Must(os.Chown(m.InNbs(folder), rig.Nobody, -1))
		refuse(folder, "belongs to user id 65534, not to this user (0)", "run the command as that user; to see what is there: ls -ldn")
		m.Must(os.Chown(m.InNbs(folder), 0, -1))
	}
	m.MustRemember("alpha", before)
}

// plantedLink is a link in place of something in .nbs, to a copy of it outside.
func (m *team) plantedLink(name string) (undo func()) {
	m.Helper()
	aside := filepath.Join(m.TempDir(), "target")
	m.Must(os.Rename(m.InNbs(name), aside))
	m.Must(os.Symlink(aside, m.InNbs(name)))
	before := m.Snapshot(aside)
	return func() {
		after := m.Snapshot(aside)
		m.Check(after == before, "what a link %s leads to was changed:\n%s\nbefore:\n%s", name, after, before)
		m.Must(os.Remove(m.InNbs(name)))
		m.Must(os.Rename(aside, m.InNbs(name)))
	}
}

func TestPlantedLinks(t *testing.T) {
	m := standIn(t)
	before := m.StoppedAlpha()
	for _, c := range []struct {
		name, says string
		code       int
		args       [][]string
	}{
		{"", "is not a folder", 4, nil},
		{"sessions", "is not a folder", 4, nil},
		{"locks", "is not a folder", 4, nil},
		{"status", "is not a folder", 4, nil},
		{"sessions/alpha.json", "is damaged: not a regular file", 4, nil},
		{"locks/alpha.verb", "lock .nbs/locks/alpha.verb: ", 1, [][]string{{"resume", "alpha"}, {"stop", "alpha"}, {"dismiss", "alpha"}}},
		{"locks/alpha.record", "lock .nbs/locks/alpha.record: ", 1, [][]string{{"resume", "alpha"}, {"stop", "alpha"}, {"dismiss", "alpha"}}},
		{"locks/journal", "lock .nbs/locks/journal: ", 1, [][]string{{"stop", "alpha"}, {"dismiss", "alpha"}}},
		{"journal.jsonl", ".nbs/journal.jsonl: not a regular file", 1, [][]string{{"stop", "alpha"}, {"dismiss", "alpha"}}},
	} {
		undo := m.plantedLink(c.name)
		args := c.args
		if args == nil {
			for _, verb := range knownVerbs {
				args = append(args, []string{verb, "alpha"})
			}
			args = append(args, []string{"list"})
		}
		for _, words := range args {
			m.MustSay(fmt.Sprint(c.name, words, m.Refused(c.code, c.says, words...)), "hint: ")
		}
		undo()
	}
	on := e2e.ClaudesOn(before.SessionID)
	m.Check(len(on) == 0, "a refused verb has started claude: %v", on)
	m.MustRemember("alpha", before)
}
