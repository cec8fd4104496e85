package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"nbs-worker/internal/sim/rig"
)

// What may stand in .nbs instead of a record of ours: each verb says what is wrong and
// what to do, and changes nothing.

// stoppedAlpha is a team with one agent that does not run.
func (m *team) stoppedAlpha() session {
	m.Helper()
	before := m.remembers("alpha")
	m.ok("stop", "alpha")
	return before
}

// mustAllRefuse checks that each verb ends with the code and the words, with a hint and
// without changing the record.
func (m *team) mustAllRefuse(code int, words, hint string) {
	m.Helper()
	record := m.recordText("alpha")
	for _, verb := range knownVerbs {
		r := m.refused(code, words, verb, "alpha")
		m.check(strings.Contains(r.stderr, "hint: "+hint) && r.stdout == "" && strings.Count(r.stderr, "\n") <= 3, "%s: %s", verb, r)
	}
	if m.recordText("alpha") != record {
		m.Errorf("the record was changed: %s", m.recordText("alpha"))
	}
}

func TestRecordCutShort(t *testing.T) {
	m := standIn(t)
	before := m.stoppedAlpha()
	whole := m.recordText("alpha")
	m.ok("spawn", "beta")
	m.writeRecord("alpha", whole[:len(whole)-3])
	m.mustAllRefuse(4, "sessions/alpha.json\" is damaged: ", "keep the file and move it aside: mv '")
	m.mustSay(m.refused(7, "list alpha: the record", "list").stdout, "alpha\tunknown\t", "beta\tidle\t")
	m.refused(5, "the handle is taken", "spawn", "alpha")
	// The way back is what the hints say.
	m.pasteHints(m.nbs("resume", "alpha"))
	m.ok("resume", "alpha", "--force", "--prompt", "What number?")
	m.mustAnswer("alpha", "42")
	after := m.session("alpha")
	m.check(after.SessionID == before.SessionID, "before %+v\nafter %+v", before, after)
}

// pasteHints runs the commands of the hints in a shell, as a person would.
func (m *team) pasteHints(r result) {
	m.Helper()
	for line := range strings.Lines(r.stderr) {
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
	sh.Dir, sh.Env = m.dir, m.env
	m.run(sh)
}

func TestRecordOfANewerSchema(t *testing.T) {
	m := standIn(t)
	before := m.stoppedAlpha()
	m.setRecord("alpha", func(fields map[string]any) { fields["schema"] = 2 })
	m.mustAllRefuse(6, "the record has schema 2, this nbs-worker knows 1", "use the newer nbs-worker that wrote it; nothing was changed")
	m.refused(6, "list alpha: the record has schema 2", "list")
	m.setRecord("alpha", func(fields map[string]any) { fields["schema"] = 1 })
	m.mustRemember("alpha", before)
}

func TestUnknownFieldsSurviveEveryVerb(t *testing.T) {
	m := standIn(t)
	before := m.stoppedAlpha()
	m.setRecord("alpha", func(fields map[string]any) {
		fields["mood"] = map[string]any{"calm": true, "<&>": 1.5}
		fields["restart"].(map[string]any)["max"] = 3.0
	})
	mustHaveThem := func(after string) {
		m.Helper()
		fields := m.record("alpha")
		got := fmt.Sprint(fields["mood"], fields["restart"].(map[string]any)["max"])
		m.check(got == "map[<&>:1.5 calm:true] 3", "after %s: %s", after, got)
	}
	for _, args := range [][]string{
		{"stop", "alpha"}, {"resume", "alpha", "--model", "haiku"}, {"resume", "alpha", "--force"}, {"stop", "alpha"}, {"session", "alpha"},
	} {
		m.ok(args...)
		mustHaveThem(strings.Join(args, " "))
	}
	m.ok("resume", "alpha", "--prompt", "What number?")
	m.mustAnswer("alpha", "42")
	m.kill(m.session("alpha").RecordedPID, syscall.SIGKILL)
	m.waitState("alpha", "crashed")
	mustHaveThem("a crash")
	id := m.record("alpha")["session_id"]
	m.check(id == before.SessionID, "another conversation: %v", id)
}

// A gigabyte is refused without being read.
func TestRecordOfAGigabyte(t *testing.T) {
	m := standIn(t)
	m.stoppedAlpha()
	m.ok("spawn", "beta")
	m.mustBeFrugal("session", "beta")
	whole := m.recordText("alpha")
	for _, name := range []string{"sessions/alpha.json", "journal.jsonl", "locks/alpha.verb", "locks/alpha.record"} {
		m.must(os.WriteFile(m.inNbs(name), nil, 0o600))
		m.must(os.Truncate(m.inNbs(name), 1<<30))
	}
	for _, verb := range knownVerbs {
		r := m.mustBeFrugal(verb, "alpha")
		m.mustRefuse(r, 4, "sessions/alpha.json\" is damaged: larger than 1048576 bytes")
	}
	r := m.mustBeFrugal("list")
	m.mustRefuse(r, 7, "is damaged: larger than")
	m.mustBeFrugal("spawn", "alpha")
	info, err := os.Stat(m.recordPath("alpha"))
	m.check(err == nil && info.Size() == 1<<30, "the file was changed: %v, %v", info, err)
	m.writeRecord("alpha", whole)
	r = m.mustBeFrugal("resume", "alpha")
	m.check(r.code == 0, "%v", r)
}

// mustBeFrugal runs a command that must need neither much time nor much memory.
func (m *team) mustBeFrugal(args ...string) result {
	m.Helper()
	cmd := m.command(args)
	begun := time.Now()
	r := m.finish(cmd)
	memory := cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss / 1024
	m.Logf("%q: %d MB, %s", args, memory, time.Since(begun).Round(time.Millisecond))
	// The test's own counts as the child's until it has become the command.
	var own syscall.Rusage
	m.must(syscall.Getrusage(syscall.RUSAGE_SELF, &own))
	limit := max(64, own.Maxrss/1024)
	m.check(memory <= limit && time.Since(begun) <= 10*time.Second, "%q took %s and %d MB", args, time.Since(begun), memory)
	return r
}

// A folder that others can write, and one of somebody else, which only root can make.
func TestFolderThatIsNotThisUsersAlone(t *testing.T) {
	m := standIn(t)
	before := m.stoppedAlpha()
	refuse := func(folder, words, hint string) {
		t.Helper()
		m.mustAllRefuse(4, words, hint+" '"+m.inNbs(folder)+"'")
		m.refused(4, words, "list")
		m.refused(4, words, "spawn", "beta")
	}
	folders := []string{"", "sessions", "locks", "status"}
	for _, folder := range folders {
		m.must(os.Chmod(m.inNbs(folder), 0o770))
		refuse(folder, "can be written by other users (mode 0770)", "look at what is in it, then: chmod 700")
		m.pasteHints(m.nbs("session", "alpha"))
	}
	rig.NeedsRoot(t)
	for _, folder := range folders {
		m.must(os.Chown(m.inNbs(folder), rig.Nobody, -1))
		refuse(folder, "belongs to user id 65534, not to this user (0)", "run the command as that user; to see what is there: ls -ldn")
		m.must(os.Chown(m.inNbs(folder), 0, -1))
	}
	m.mustRemember("alpha", before)
}

// plantedLink is a link in place of something in .nbs, to a copy of it outside.
func (m *team) plantedLink(name string) (undo func()) {
	m.Helper()
	aside := filepath.Join(m.TempDir(), "target")
	m.must(os.Rename(m.inNbs(name), aside))
	m.must(os.Symlink(aside, m.inNbs(name)))
	before := m.snapshot(aside)
	return func() {
		after := m.snapshot(aside)
		m.check(after == before, "what a link %s leads to was changed:\n%s\nbefore:\n%s", name, after, before)
		m.must(os.Remove(m.inNbs(name)))
		m.must(os.Rename(aside, m.inNbs(name)))
	}
}

// snapshot is all that is in a file or folder.
func (m *team) snapshot(path string) string {
	m.Helper()
	var all strings.Builder
	m.must(filepath.Walk(path, func(path string, info os.FileInfo, err error) error {
		if err == nil {
			text, _ := os.ReadFile(path)
			fmt.Fprintln(&all, path, info.Mode(), info.Size(), info.ModTime(), string(text))
		}
		return err
	}))
	return all.String()
}

func TestPlantedLinks(t *testing.T) {
	m := standIn(t)
	before := m.stoppedAlpha()
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
			m.mustSay(fmt.Sprint(c.name, words, m.refused(c.code, c.says, words...)), "hint: ")
		}
		undo()
	}
	on := claudesOn(before.SessionID)
	m.check(len(on) == 0, "a refused verb has started claude: %v", on)
	m.mustRemember("alpha", before)
}
