package memory

import (
	"bytes"
	"os"
	"slices"
	"strings"
	"testing"

	"nbs-worker/internal/e2e"
)

// A conversation does not come back shortened without a word.

// threeTurns is an agent that was told three things and then stopped.
func (m *team) threeTurns() e2e.Session {
	m.Helper()
	s := m.Remembers("alpha")
	for _, number := range []string{"43", "44"} {
		m.TypeLine(s, "Remember "+number+".")
		m.MustAnswer("alpha", "OK, I will remember "+number+".")
	}
	m.MustBeWritten(s.SessionID, "OK, I will remember 44.")
	m.WaitState("alpha", "idle")
	m.OK("stop", "alpha")
	return m.Session("alpha")
}

// firstTurn is the part of a transcript before the second prompt.
func firstTurn(t *testing.T, text []byte) []byte {
	t.Helper()
	at := bytes.Index(text, []byte("Remember 43."))
	if at < 0 {
		t.Fatalf("there is no second turn in %s", text)
	}
	return text[:bytes.LastIndexByte(text[:at], '\n')+1]
}

// Somebody has taken a part out of a copy and put it in the place of the transcript: the whole one is put back, and this is
// told. What else may be missing is a table of internal/team/supervisor.
func TestShortenedTranscriptIsPutBackWhole(t *testing.T) {
	m := standIn(t)
	before := m.threeTurns()
	path := before.Transcript.Path
	whole := m.BytesOf(path)
	var left []byte
	for line := range bytes.Lines(whole) {
		if !bytes.Contains(line, []byte("emember 43")) {
			left = append(left, line...)
		}
	}
	m.Replace(path, left)
	out := m.OK("session", "alpha")
	m.Check(strings.Contains(out, "Claude's copy has lost a part"), "session does not tell:\n%s", out)
	m.Doctor(1).Finds(m.Team, "team.transcripts", "warning", "Claude's transcript has lost a part")
	r := m.NBS("resume", "alpha", "--prompt", "What number?")
	m.Check(r.Code == 0 && strings.Contains(r.Stderr, "its transcript had lost a part") && strings.Contains(r.Stderr, "it was restored from"), "%v", r)
	m.MustAnswer("alpha", "44")
	m.Check(bytes.HasPrefix(m.BytesOf(path), whole), "the transcript does not begin with all that it had")
	m.MustBeInTheJournal("restored", "alpha", before.SessionID)
	m.Doctor(0).IsWell(m.Team, "team.transcripts")
	m.mustBeKept(before.SessionID, path)
}

// What is cut off in place is cut off the second name too: that is said, once.
func TestTranscriptThatWasCutInPlace(t *testing.T) {
	m := standIn(t)
	before := m.threeTurns()
	path := before.Transcript.Path
	whole := m.BytesOf(path)
	m.Must(os.Truncate(path, int64(len(firstTurn(t, whole)))))
	out := m.OK("session", "alpha")
	m.Check(strings.Contains(out, "Kept:            no: the transcript itself was cut short"), "session vouches for what is cut off:\n%s", out)
	m.Doctor(1).Finds(m.Team, "team.transcripts", "failure", "were cut off, and no copy has them")
	var said struct {
		Lost *struct {
			Path  string
			Bytes int
		}
	}
	r := m.NBS("resume", "alpha", "--prompt", "What number?", "--json")
	err := e2e.One(r.Stdout, &said)
	m.Check(err == nil && said.Lost != nil && said.Lost.Bytes == len(whole)-len(firstTurn(t, whole)) && strings.Contains(r.Stderr, "were cut off"), "%v: %s", err, r)
	m.MustAnswer("alpha", "42")
	m.MustBeInTheJournal("lost", "alpha", before.SessionID)
	m.WaitState("alpha", "idle")
	m.Doctor(0).IsWell(m.Team, "team.transcripts")
	r = m.NBS("resume", "alpha", "--force")
	m.Check(r.Code == 0 && !strings.Contains(r.Stderr, "cut off"), "it is said again: %s", r)
}

// What is written over in place is written over in the second name too, and two copies may each have something that the other
// has not: the agent is not brought back into another conversation, and a person can choose. Of one that is empty nothing
// can be brought back.
func TestTranscriptThatIsAnotherIsRefused(t *testing.T) {
	m := standIn(t)
	path := m.threeTurns().Transcript.Path
	refused := func(code int, found, refused string) e2e.Result {
		m.Helper()
		m.Doctor(1).Finds(m.Team, "team.transcripts", "failure", found)
		return m.Refused(code, refused, "resume", "alpha")
	}
	m.Must(os.WriteFile(path, bytes.ReplaceAll(m.BytesOf(path), []byte("44"), []byte("45")), 0o600)) // in place
	for range 2 {                                                                                    // to look at it does not make it right
		m.MustSay(m.OK("session", "alpha"), "Kept:            no: ")
		m.MustSay(refused(5, "was overwritten", "was overwritten").Stderr, "resume alpha --fresh")
	}
	m.mustHaveWayOut(m.Refused(5, "", "resume", "alpha").Stderr, "to go on with the present transcript: ")
	m.OK("resume", "alpha")
	m.WaitState("alpha", "idle")
	m.Doctor(0).IsWell(m.Team, "team.transcripts")
	m.OK("stop", "alpha")

	whole := m.BytesOf(path)
	first := firstTurn(t, whole)
	m.Replace(path, append(slices.Clone(first), bytes.ReplaceAll(whole[len(first):], []byte(`"uuid":"`), []byte(`"uuid":"0`))...))
	m.mustHaveWayOut(refused(5, "and its kept copy differ", "and its kept copy differ").Stderr, "to go on with the kept copy: ")
	m.OK("resume", "alpha", "--prompt", "What number?")
	m.MustAnswer("alpha", "45")
	m.Check(bytes.HasPrefix(m.BytesOf(path), whole), "the transcript is not the kept one")
	m.WaitState("alpha", "idle")
	m.OK("stop", "alpha")

	m.Must(os.Truncate(path, 0))
	m.MustSay(m.OK("session", "alpha"), "Kept:            no: the transcript is empty")
	refused(2, "its transcript is empty", "is empty now")
}

// mustHaveWayOut does what a hint says, as a person who pastes it.
func (m *team) mustHaveWayOut(stderr, hint string) {
	m.Helper()
	_, rest, found := strings.Cut(stderr, "hint: "+hint)
	command, _, _ := strings.Cut(rest, "\n")
	if !found {
		m.Fatalf("there is no hint %q in %s", hint, stderr)
	}
	m.Shell(command)
}
