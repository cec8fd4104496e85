package send

import (
	"errors"
	"os"
	"strings"
	"testing"
)

func TestEventsTellWhatWasDone(t *testing.T) {
	m := standIn(t)
	m.OK("spawn", "alpha")
	m.OK("spawn", "beta")
	reading := m.follow("events", "--follow", "Alpha", "--since", "1h")
	reading.mustShow("\tspawn\talpha\t") // it is at work
	m.OK("stop", "beta")
	m.OK("dismiss", "alpha")
	reading.mustShow("\tdismiss\talpha\t")
	reading.mustEndInterrupted()
	text := reading.seen.String()
	m.Check(!strings.Contains(text, "beta") && strings.Count(text, "\tspawn\t") == 1, "of another agent, or twice:\n%s", text)
	m.MustSay(m.OK("events", "alpha"), "\tspawn\talpha\t", "\ta new conversation\n", "\tstart\talpha\t", "\ta new conversation, model ")
	last := m.follow("events", "--follow", "-n", "1")
	last.mustShow("\tdismiss\talpha\t")
	m.OK("dismiss", "beta")
	last.mustShow("\tdismiss\tbeta\t")
	m.Check(strings.Count(last.seen.String(), "\n") == 2, "more than the last and what came then:\n%s", last.seen.String())
	last.mustEndInterrupted()
}

// Who follows a journal that is cut or replaced is told so, and goes on with what it says then.
func TestFollowedEventsOfAJournalThatIsCut(t *testing.T) {
	t.Parallel()
	for what, spoil := range map[string]func(m *team){
		"cut":      func(m *team) { m.WriteJournal(nil) },
		"replaced": func(m *team) { m.Replace(m.InNbs("journal.jsonl"), nil) },
	} {
		t.Run(what, func(t *testing.T) {
			m := standIn(t)
			m.OK("spawn", "alpha")
			m.OK("stop", "alpha")
			reading := m.follow("events", "--follow")
			reading.mustShow("\tstop\talpha\t")
			spoil(m)
			m.OK("dismiss", "alpha")
			reading.mustShow("note: the journal was cut or replaced; what follows is from its beginning\n")
			reading.mustShow("\tdismiss\talpha\t")
			reading.mustEndInterrupted()
		})
	}
}

// Who follows the events of a project that is deleted, or whose .nbs is moved away, is told.
func TestFollowedEventsEndWithTheirFolder(t *testing.T) {
	t.Parallel()
	for what, takeAway := range map[string]func(m *team) error{
		"removed":                 func(m *team) error { return os.RemoveAll(m.InNbs()) },
		"removed, with a new one": func(m *team) error { return errors.Join(os.RemoveAll(m.InNbs()), os.Mkdir(m.InNbs(), 0o700)) },
		"moved away":              func(m *team) error { return os.Rename(m.InNbs(), m.InNbs()+".old") },
		"moved with the project":  func(m *team) error { return os.Rename(m.World.Project, m.World.Project+".old") },
		"the project removed":     func(m *team) error { return os.RemoveAll(m.World.Project) },
	} {
		t.Run(what, func(t *testing.T) {
			m := standIn(t)
			m.OK("spawn", "alpha")
			m.OK("dismiss", "alpha")
			m.Dir = m.TempDir()
			reading := m.follow("events", "--follow", "--root", m.World.Project)
			reading.mustShow("\tdismiss\talpha\t")
			m.Must(takeAway(m))
			reading.mustShow("was removed or moved: no more events will come\n")
			_ = reading.wait() // the code tells
			text := reading.seen.String()
			code := reading.cmd.ProcessState.ExitCode()
			m.Check(code == 2 && strings.Count(text, "no more events will come") == 1, "exit code %d:\n%s", code, text)
		})
	}
}
