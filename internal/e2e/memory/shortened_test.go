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
	m.toldThree()
	m.OK("stop", "alpha")
	return m.Session("alpha")
}

// toldThree is an agent that was told three things.
func (m *team) toldThree() e2e.Session {
	m.Helper()
	s := m.Remembers("alpha")
	for _, line := range []string{"Remember 43.", "Remember 44."} {
		m.TypeLine(s, line)
		m.MustAnswer("alpha", "OK, I will remember "+strings.Fields(strings.TrimSuffix(line, "."))[1]+".")
	}
	m.MustBeWritten(s.SessionID, "OK, I will remember 44.")
	return m.WaitState("alpha", "idle")
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

// mustBePutBack resumes alpha, of whose transcript a part is missing, and checks that the whole one is
// there again and that this is told.
func (m *team) mustBePutBack(before e2e.Session, whole []byte) {
	m.Helper()
	m.Doctor(1).Finds(m.Team, "team.transcripts", "warning", "Claude's transcript has lost a part")
	r := m.NBS("resume", "alpha", "--prompt", "What number?")
	m.Check(r.Code == 0 && strings.Contains(r.Stderr, "its transcript had lost a part") && strings.Contains(r.Stderr, "it was restored from"), "%v", r)
	m.MustAnswer("alpha", "44")
	now := m.BytesOf(before.Transcript.Path)
	m.Check(bytes.HasPrefix(now, whole), "the transcript does not begin with all that it had")
	m.MustBeInTheJournal("restored", "alpha", before.SessionID)
	m.Doctor(0).IsWell(m.Team, "team.transcripts")
}

// Somebody has cut the end off a copy and put it in the place of the transcript.
func TestShortenedTranscriptIsPutBackWhole(t *testing.T) {
	m := standIn(t)
	before := m.threeTurns()
	path := before.Transcript.Path
	whole := m.BytesOf(path)
	m.Replace(path, firstTurn(t, whole))
	out := m.OK("session", "alpha")
	m.Check(strings.Contains(out, "Claude's copy has lost a part"), "session does not tell:\n%s", out)
	m.mustBePutBack(before, whole)
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

// An older copy took the place of the transcript while claude was at work, which went on in it:
// what both have makes the conversation.
func TestTranscriptThatWasShortenedAtWorkIsJoined(t *testing.T) {
	m := real(t)
	before := m.toldThree()
	path := before.Transcript.Path
	whole := m.BytesOf(path)
	m.Replace(path, firstTurn(t, whole))
	m.TypeLine(m.Session("alpha"), "Remember 45.")
	m.MustAnswer("alpha", "OK, I will remember 45.")
	m.WaitState("alpha", "idle")
	r := m.NBS("resume", "alpha", "--force", "--prompt", "What number?")
	m.Check(r.Code == 0 && strings.Contains(r.Stderr, "it was restored from"), "%v", r)
	m.MustAnswer("alpha", "45")
	now := m.BytesOf(path)
	m.Check(bytes.HasPrefix(now, whole) && bytes.Contains(now, []byte("Remember 45.")), "the transcript has not all that was said")
	m.WaitState("alpha", "idle")
	m.Doctor(0).IsWell(m.Team, "team.transcripts")
}

func TestTranscriptThatWasEmptiedInPlace(t *testing.T) {
	m := standIn(t)
	before := m.threeTurns()
	m.Must(os.Truncate(before.Transcript.Path, 0))
	out := m.OK("session", "alpha")
	m.Check(strings.Contains(out, "Kept:            no: the transcript is empty"), "%s", out)
	m.Doctor(1).Finds(m.Team, "team.transcripts", "failure", "its transcript is empty")
	m.Refused(2, "is empty now", "resume", "alpha")
}

// What is written over in place is written over in the second name too. What was there is
// remembered apart from both: the agent is not brought back into another conversation.
func TestTranscriptThatWasRewrittenIsRefused(t *testing.T) {
	t.Parallel()
	renamed := func(text []byte) []byte { return bytes.ReplaceAll(text, []byte(`"uuid":"`), []byte(`"uuid":"0`)) }
	for what, written := range map[string]func(t *testing.T, whole []byte) []byte{
		"longer":  func(_ *testing.T, whole []byte) []byte { return renamed(whole) },
		"as long": func(_ *testing.T, whole []byte) []byte { return bytes.ReplaceAll(whole, []byte("44"), []byte("45")) },
		"shorter": func(t *testing.T, whole []byte) []byte { return renamed(firstTurn(t, whole)) },
	} {
		t.Run(what, func(t *testing.T) {
			m := standIn(t)
			before := m.threeTurns()
			path := before.Transcript.Path
			m.Must(os.WriteFile(path, written(t, m.BytesOf(path)), 0o600)) // in place
			for range 2 {                                                  // to look at it does not make it right
				out := m.OK("session", "alpha")
				m.Check(strings.Contains(out, "Kept:            no: "), "session vouches for what was overwritten:\n%s", out)
				m.Doctor(1).Finds(m.Team, "team.transcripts", "failure", "was overwritten")
				m.Refused(5, "was overwritten", "resume", "alpha")
			}
			r := m.Refused(5, "resume alpha --fresh", "resume", "alpha")
			m.mustHaveWayOut(r.Stderr, "to go on with the present transcript: ")
			m.OK("resume", "alpha")
			m.WaitState("alpha", "idle")
			m.Doctor(0).IsWell(m.Team, "team.transcripts")
		})
	}
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

// Both have something that the other has not: only a person can choose.
func TestTranscriptThatWentAnotherWayIsRefused(t *testing.T) {
	m := standIn(t)
	before := m.threeTurns()
	path := before.Transcript.Path
	whole := m.BytesOf(path)
	other := append(firstTurn(t, whole), bytes.ReplaceAll(whole[len(firstTurn(t, whole)):], []byte(`"uuid":"`), []byte(`"uuid":"0`))...)
	m.Replace(path, other)
	m.Doctor(1).Finds(m.Team, "team.transcripts", "failure", "and its kept copy differ")
	r := m.Refused(5, "and its kept copy differ", "resume", "alpha")
	m.mustHaveWayOut(r.Stderr, "to go on with the kept copy: ")
	m.OK("resume", "alpha", "--prompt", "What number?")
	m.MustAnswer("alpha", "44")
	now := m.BytesOf(path)
	m.Check(bytes.HasPrefix(now, whole), "the transcript is not the kept one")
}

// What is missing need not be the end: an editor takes lines out anywhere.
func TestTranscriptThatLostAPartIsPutBackWhole(t *testing.T) {
	t.Parallel()
	middle := func(_ *testing.T, whole []byte) []byte { return lines(whole, false, "Remember 43", "remember 43") }
	for what, c := range map[string]struct {
		left   func(t *testing.T, whole []byte) []byte
		looked bool // at before the resume, which keeps what is there
	}{
		"the middle":       {middle, false},
		"the middle, kept": {middle, true},
		"the start":        {func(t *testing.T, whole []byte) []byte { return whole[len(firstTurn(t, whole)):] }, false},
		"all but one": {func(t *testing.T, whole []byte) []byte {
			all := slices.Collect(bytes.Lines(lines(whole, true, `"type":"user"`)))
			if len(all) < 3 {
				t.Fatalf("%s", whole)
			}
			return all[1]
		}, false},
	} {
		t.Run(what, func(t *testing.T) {
			m := standIn(t)
			before := m.threeTurns()
			path := before.Transcript.Path
			whole := m.BytesOf(path)
			m.Replace(path, c.left(t, whole))
			if c.looked {
				out := m.OK("session", "alpha")
				m.Check(strings.Contains(out, "Claude's copy has lost a part"), "session does not tell:\n%s", out)
			}
			m.mustBePutBack(before, whole)
		})
	}
}

// lines are the lines of a transcript that hold any of the words, or none of them.
func lines(text []byte, with bool, words ...string) []byte {
	var out []byte
	for line := range bytes.Lines(text) {
		if slices.ContainsFunc(words, func(word string) bool { return bytes.Contains(line, []byte(word)) }) == with {
			out = append(out, line...)
		}
	}
	return out
}
