package send

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
)

func TestEventsTellWhatWasDone(t *testing.T) {
	m := standIn(t)
	m.Refused(2, "no .nbs folder", "events")
	m.OK("spawn", "alpha")
	m.OK("spawn", "beta")
	id := m.Session("alpha").SessionID
	reading := m.follow("events", "--follow", "Alpha", "--since", "1h")
	reading.mustShow("\tspawn\talpha\t") // it is at work
	m.OK("stop", "beta")
	m.OK("dismiss", "alpha")
	reading.mustShow("\tdismiss\talpha\t")
	reading.mustEndInterrupted()
	text := reading.seen.String()
	m.Check(!strings.Contains(text, "beta") && strings.Count(text, "\tspawn\t") == 1, "of another agent, or twice:\n%s", text)
	var last struct {
		At, Event, Handle string
		SessionID         string `json:"session_id"`
		PID               int
	}
	lines := strings.Split(strings.TrimSpace(m.OK("events", "--json", "alpha")), "\n")
	err := json.Unmarshal([]byte(lines[len(lines)-1]), &last)
	m.Check(err == nil && last.Event == "dismiss" && last.SessionID == id && last.Handle == "alpha" && strings.HasSuffix(last.At, "Z"), "%v: %+v", err, last)
	all := m.OK("events")
	got := strings.Count(all, "\n")
	m.Check(got == strings.Count(m.Journal(), "\n") && strings.Count(all, "\t") == 5*got, "not an event a line:\n%s", all)
	m.MustPrint("", "events", "--since", "2999-01-01T00:00:00Z")
	m.Refused(2, "no agent and no event of the handle gamma", "events", "gamma")
	m.Refused(4, "--since", "events", "--since", "yesterday")
	m.Refused(4, "handle", "events", "..")
	m.Refused(4, "verify", "events", "--verify", "--follow")
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

// -n and --since show the end of the journal, of all agents or of some.
func TestEventsFromTheEnd(t *testing.T) {
	m := standIn(t)
	for _, handle := range []string{"alpha", "beta", "gamma"} {
		m.OK("spawn", handle)
		m.OK("stop", handle)
	}
	of := func(text string) (events []string) {
		for line := range strings.Lines(text) {
			fields := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
			events = append(events, fields[1]+" "+fields[2]+": "+fields[5])
		}
		return events
	}
	if got := of(m.OK("events", "-n", "1")); !slices.Equal(got, []string{"stop gamma: was idle"}) && !slices.Equal(got, []string{"stop gamma: was starting"}) {
		t.Errorf("the last one: %q", got)
	}
	if got := of(m.OK("events", "ALPHA", "beta", "--last", "3")); len(got) != 3 || !strings.HasPrefix(got[2], "stop beta: was ") || strings.Contains(strings.Join(got, "\n"), "gamma") {
		t.Errorf("of two: %q", got)
	}
	got := of(m.OK("events", "alpha"))
	m.Check(len(got) == 4 && got[0] == "spawn alpha: a new conversation" && strings.HasPrefix(got[1], "start alpha: a new conversation, model "), "of one: %q", got)
	reading := m.follow("events", "--follow", "-n", "1")
	reading.mustShow("\tstop\tgamma\t")
	m.OK("dismiss", "beta")
	reading.mustShow("\tdismiss\tbeta\t")
	text := reading.seen.String()
	m.Check(strings.Count(text, "\n") == 2, "more than the last and what came then:\n%s", text)
	reading.mustEndInterrupted()
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
			reading.mustShow("was removed or moved away: no event will come\n")
			_ = reading.wait() // the code tells
			text := reading.seen.String()
			code := reading.cmd.ProcessState.ExitCode()
			m.Check(code == 2 && strings.Count(text, "no event will come") == 1, "exit code %d:\n%s", code, text)
		})
	}
}

func TestAlteredJournalFailsAtThatLine(t *testing.T) {
	m := standIn(t)
	m.OK("spawn", "alpha")
	for range 3 {
		m.OK("stop", "alpha")
		m.OK("resume", "alpha")
	}
	m.OK("stop", "alpha")
	text := m.BytesOf(m.InNbs("journal.jsonl"))
	lines := bytes.SplitAfter(text, []byte{'\n'})
	lines = lines[:len(lines)-1]
	m.MustPrint(fmt.Sprintf("%d events, as they were written\n", len(lines)), "events", "--verify")
	at := 0
	for i, line := range lines {
		altered := bytes.Clone(text)
		altered[at+len(line)/2] ^= 1
		m.WriteJournal(altered)
		r := m.Refused(1, fmt.Sprintf("%s: line %d: altered", m.InNbs("journal.jsonl"), i+1), "events", "--verify")
		m.MustSay(r.Stderr, "hint: to keep it as it is and begin a new journal: mv ")
		at += len(line)
	}
	m.WriteJournal(text[:len(text)-len(lines[len(lines)-1])])
	r := m.Refused(1, fmt.Sprintf("line %d: %d bytes that followed it were cut off", len(lines)-1, len(lines[len(lines)-1])), "events", "--verify", "--json")
	m.MustSay(r.Stdout, `"whole":false`, fmt.Sprintf(`"line":%d,`, len(lines)-1))
	m.WriteJournal(append(text, `{"at":"2026-02-2`...)) // a full disk
	m.OK("resume", "alpha")
	m.MustSay(m.OK("events", "--verify"), fmt.Sprintf("\nline %d is no event: it was cut short", len(lines)+1))
}
