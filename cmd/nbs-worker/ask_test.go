package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"nbs-worker/internal/sim/rig"
)

// answered is what ask --json tells.
type answered struct {
	Key               string
	Seq               int
	Answer            *string
	Continuity        string
	SessionID         string `json:"session_id"`
	PreviousSessionID string `json:"previous_session_id"`
	Reason            string
	Class             string
	Notice            string
	Usage             *struct{ Input, Output int }
}

// chats has claudes give up soon on an API that fails.
func (m *team) chats() {
	m.env = append(m.env, "CLAUDE_CODE_MAX_RETRIES=1")
}

// ask takes a turn that ends with the code.
func (m *team) ask(code int, key, text string, args ...string) (got answered) {
	m.Helper()
	r := m.nbs(append([]string{"ask", key, text, "--json"}, args...)...)
	if r.code != code {
		m.Fatalf("ask %s %.60q: want exit code %d: %s", key, text, code, r)
	}
	if r.stdout != "" {
		m.must(json.Unmarshal([]byte(r.stdout), &got))
	}
	return got
}

// says takes a turn that is answered with the words.
func (m *team) says(key, text, words string, args ...string) answered {
	m.Helper()
	got := m.ask(0, key, text, args...)
	if got.Answer == nil || *got.Answer != words {
		m.Fatalf("ask %s %.60q: %+v; want the answer %q", key, text, got, words)
	}
	return got
}

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
	m.decode(&c, "conversation", "show", key, "--json")
	return c
}

// transcriptOf is the path of the transcript of a session.
func (m *team) transcriptOf(id string) string {
	m.Helper()
	found, _ := filepath.Glob(filepath.Join(m.world.ConfigDir, "projects", "*", id+".jsonl"))
	if len(found) != 1 {
		m.Fatalf("transcripts of %s: %q", id, found)
	}
	return found[0]
}

// The seeds' conversation, word for word; what is begun anew knows nothing, and what was before can be gone back to.
func TestTheSeedsConversation(t *testing.T) {
	eachVersion(t, func(_ *testing.T, m *team) {
		m.chats()
		terse := "Be terse."
		first := m.says("telegram:123456789", "Remember 42.", "OK.", "--system-prompt", terse)
		second := m.says("telegram:123456789", "What number?", "42.")
		rig.Equal(m, [2]string{first.Continuity, second.Continuity}, [2]string{"new", "resumed"}, "how it goes on")
		rig.Equal(m, [4]any{first.Seq, second.Seq, second.SessionID, first.PreviousSessionID + first.Reason + first.Notice}, [4]any{1, 2, first.SessionID, ""}, "what else is told")
		m.ok("conversation", "reset", "telegram:123456789")
		third := m.says("telegram:123456789", "What number?", "I don't have any number in mind.")
		if third.Continuity != "reset" || third.PreviousSessionID != first.SessionID || third.Reason == "" || third.SessionID == first.SessionID {
			m.Errorf("%+v", third)
		}
		m.ok("conversation", "restore", "telegram:123456789", first.SessionID[:8])
		if fourth := m.says("telegram:123456789", "What number?", "42."); fourth.Continuity != "resumed" || fourth.SessionID != first.SessionID {
			m.Errorf("%+v", fourth)
		}
		m.mustSay(m.ok("conversation", "history", "telegram:123456789"), "Remember 42.", "OK.", "What number?", "42.")
		m.mustSay(m.ok("conversation", "history", "telegram:123456789", "--all"), "I don't have any number in mind.")
		m.mustSay(m.ok("conversation", "list"), "telegram:123456789", first.SessionID)
	})
}

// What became of a transcript decides how the conversation goes on, and it is told in one word.
func TestWhatBecameOfATranscript(t *testing.T) {
	eachVersion(t, func(_ *testing.T, m *team) {
		m.chats()
		begin := func(key string) string {
			m.Helper()
			return m.says(key, "Remember 42.", "OK, I will remember 42.").SessionID
		}
		goesOn := func(key, id, continuity, words string, args ...string) {
			m.Helper()
			got := m.says(key, "What number?", words, args...)
			if got.Continuity != continuity || (got.SessionID == id) != (continuity == "resumed") || continuity == "reset" && (got.PreviousSessionID != id || got.Reason == "" || !strings.Contains(got.Notice, id)) {
				m.Errorf("%s: %+v; want %s", key, got, continuity)
			}
		}
		id := begin("deleted")
		m.must(os.Remove(m.transcriptOf(id)))
		goesOn("deleted", id, "resumed", "42") // from what is kept

		lost := begin("lost")
		m.must(os.Remove(m.transcriptOf(lost)))
		m.must(os.Remove(m.keptPath(lost)))
		if got := m.ask(2, "lost", "What number?"); got.Class != "lost" || got.Answer != nil || got.SessionID != "" {
			m.Errorf("%+v", got)
		}
		goesOn("lost", lost, "reset", "I don't know any number.", "--on-lost", "fresh")
		if got := m.says("lost", "Remember 7.", "OK, I will remember 7.", "--on-lost", "fresh"); got.Continuity != "resumed" || got.Notice != "" {
			m.Errorf("%+v", got)
		}

		empty := begin("empty")
		m.must(os.WriteFile(m.transcriptOf(empty), nil, 0o600))
		m.ask(2, "empty", "What number?")
		goesOn("empty", empty, "reset", "I don't know any number.", "--on-lost", "fresh")

		torn := begin("torn")
		m.says("torn", "Something more.", "You said: Something more.")
		path := m.transcriptOf(torn)
		text, err := os.ReadFile(path)
		m.must(err)
		m.must(os.WriteFile(path, text[:len(text)-20], 0o600))
		goesOn("torn", torn, "resumed", "42")
	})
}
