package chat

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"nbs-worker/internal/sim/rig"
)

// keyed is what conversation show --json tells.
type keyed struct {
	Key       string
	SessionID string `json:"session_id"`
	Answered  int
	Open      []struct {
		Seq                        int
		State, Class, Reason, Text string
		Attempts                   int
	}
	Previous []struct {
		SessionID string `json:"session_id"`
		Reason    string
	}
}

func (m *team) keyed(key string) (c keyed) {
	m.Helper()
	m.Decode(&c, "conversation", "show", key, "--json")
	return c
}

// transcriptOf is the path of the transcript of a session.
func (m *team) transcriptOf(id string) string {
	m.Helper()
	found, _ := filepath.Glob(filepath.Join(m.World.ConfigDir, "projects", "*", id+".jsonl"))
	if len(found) != 1 {
		m.Fatalf("transcripts of %s: %q", id, found)
	}
	return found[0]
}

// The seeds' conversation, word for word; what is begun anew knows nothing, and what was before can be gone back to. An error in
// the middle of an answer, and a transcript that was cut in the middle of a line, lose nothing of it.
func TestTheSeedsConversation(t *testing.T) {
	m := eachVersion(t)
	m.Chats()
	terse := "Be terse."
	first := m.Says("telegram:123456789", "Remember 42.", "OK.", "--system-prompt", terse)
	second := m.Says("telegram:123456789", "What number?", "42.")
	rig.Equal(m, [2]string{first.Continuity, second.Continuity}, [2]string{"new", "resumed"}, "how it goes on")
	rig.Equal(m, [4]any{first.Seq, second.Seq, second.SessionID, first.PreviousSessionID + first.Reason + first.Notice}, [4]any{1, 2, first.SessionID, ""}, "what else is told")
	m.OK("conversation", "reset", "telegram:123456789")
	third := m.Says("telegram:123456789", "What number?", "I don't have any number in mind.")
	if third.Continuity != "reset" || third.PreviousSessionID != first.SessionID || third.Reason == "" || third.SessionID == first.SessionID {
		m.Errorf("%+v", third)
	}
	m.OK("conversation", "restore", "telegram:123456789", first.SessionID[:8])
	if fourth := m.Says("telegram:123456789", "What number?", "42."); fourth.Continuity != "resumed" || fourth.SessionID != first.SessionID {
		m.Errorf("%+v", fourth)
	}
	m.MustSay(m.OK("conversation", "history", "telegram:123456789"), "Remember 42.", "OK.", "What number?", "42.")
	m.MustSay(m.OK("conversation", "history", "telegram:123456789", "--all"), "I don't have any number in mind.")
	m.MustSay(m.OK("conversation", "list"), "telegram:123456789", first.SessionID)

	m.Ask(8, "telegram:123456789", "[[error 401 midstream]] hello")
	open := m.keyed("telegram:123456789").Open
	m.Check(len(open) == 1 && open[0].State == "held" && open[0].Class == "authentication" && open[0].Reason != "", "%+v", open)
	m.MustPrint("You said: [[error 401 midstream]] hello\n", "conversation", "retry", "telegram:123456789")
	path := m.transcriptOf(first.SessionID)
	text := m.BytesOf(path)
	m.Must(os.WriteFile(path, text[:len(text)-20], 0o600))
	if last := m.Says("telegram:123456789", "What number?", "42."); last.Continuity != "resumed" || last.SessionID != first.SessionID {
		m.Errorf("%+v", last)
	}
}

// What became of a transcript decides how the conversation goes on, and it is told in one word.
func TestWhatBecameOfATranscript(t *testing.T) {
	m := standIn(t)
	m.Chats()
	begin := func(key string) string {
		m.Helper()
		return m.Says(key, "Remember 42.", "OK, I will remember 42.").SessionID
	}
	goesOn := func(key, id, continuity, words string, args ...string) {
		m.Helper()
		got := m.Says(key, "What number?", words, args...)
		if got.Continuity != continuity || (got.SessionID == id) != (continuity == "resumed") || continuity == "reset" && (got.PreviousSessionID != id || got.Reason == "" || !strings.Contains(got.Notice, id)) {
			m.Errorf("%s: %+v; want %s", key, got, continuity)
		}
	}
	id := begin("deleted")
	m.Must(os.Remove(m.transcriptOf(id)))
	goesOn("deleted", id, "resumed", "42") // from what is kept

	lost := begin("lost")
	m.Must(os.Remove(m.transcriptOf(lost)))
	m.Must(os.Remove(m.KeptPath(lost)))
	if got := m.Ask(2, "lost", "What number?"); got.Class != "lost" || got.Answer != nil || got.SessionID != "" {
		m.Errorf("%+v", got)
	}
	goesOn("lost", lost, "reset", "I don't know any number.", "--on-lost", "fresh")
	if got := m.Says("lost", "Remember 7.", "OK, I will remember 7.", "--on-lost", "fresh"); got.Continuity != "resumed" || got.Notice != "" {
		m.Errorf("%+v", got)
	}

	empty := begin("empty")
	m.Must(os.WriteFile(m.transcriptOf(empty), nil, 0o600))
	m.Ask(2, "empty", "What number?")
	goesOn("empty", empty, "reset", "I don't know any number.", "--on-lost", "fresh")
}
