package e2e

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"nbs-worker/internal/sim/api"
	"nbs-worker/internal/sim/rig"
)

// SaysAndHears types a line, and waits for what the agent says to it.
func (m *Team) SaysAndHears(handle, line, answer string) {
	m.Helper()
	m.TypeLine(m.Session(handle), line)
	m.WaitNews("the log has "+answer, func() string { return m.News(handle) }, func() (bool, string) {
		r := m.NBS("logs", handle, "--tools") // there is no transcript before the first prompt
		return strings.Contains(r.Stdout, answer), r.String()
	})
	m.WaitSession(handle, "is at its prompt", func(s Session) bool { return s.State == "idle" || s.State == "failed" })
}

// WaitArrived waits until claude is where its hooks said that it would be, and takes a prompt.
func (m *Team) WaitArrived(handle string) {
	m.Helper()
	m.WaitSession(handle, "has arrived", func(s Session) bool { return s.State == "idle" && len(s.Drift) == 0 })
}

// Claude deletes transcripts after some weeks, and people by mistake. The archive keeps them.

// KeptPath is where the archive has a conversation.
func (m *Team) KeptPath(id string) string { return m.InState("transcripts", id+".jsonl") }

// Lose deletes a transcript and what is kept of it.
func (m *Team) Lose(s Session) {
	m.Helper()
	for _, path := range []string{s.Transcript.Path, m.KeptPath(s.SessionID)} {
		m.Must(os.Remove(path))
	}
}

func Read(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	rig.Must(t, err)
	return string(data)
}

func (m *Team) BytesOf(path string) []byte {
	m.Helper()
	text, err := os.ReadFile(path)
	m.Must(err)
	return text
}

// Replace puts a text into the place of a file, as an editor does.
func (m *Team) Replace(path string, text []byte) {
	m.Helper()
	m.Must(os.WriteFile(path+".new", text, 0o600))
	m.Must(os.Rename(path+".new", path))
}

// FirstRequest is with what a conversation began: the user's words, and all that claude sent with them.
func (m *Team) FirstRequest(id string) (asked, sent string) {
	m.Helper()
	m.WaitFor("the first prompt is sent", func() (bool, string) {
		for _, request := range m.API.Requests() {
			if request.SessionID == id && !request.Side && request.Method == "POST" {
				asked, sent = request.Last(), strings.NewReplacer(`\n`, "\n", `\u003e`, ">", `\"`, `"`).Replace(string(request.Body))
				return true, ""
			}
		}
		return false, "no request of " + id
	})
	return asked, sent
}

// WaitAsked waits until claude has sent a prompt.
func (m *Team) WaitAsked(prompt string) {
	m.Helper()
	m.WaitFor("the request with "+prompt, func() (bool, string) {
		return slices.ContainsFunc(m.API.Requests(), func(r api.Request) bool { return r.Last() == prompt }), ""
	})
}

// MustBeWritten waits for words in a transcript: Claude shows them before it writes them.
func (m *Team) MustBeWritten(id, words string) {
	m.Helper()
	m.WaitFor("the transcript of "+id+" holds "+words, func() (bool, string) {
		paths, _ := filepath.Glob(filepath.Join(m.World.ConfigDir, "projects", "*", id+".jsonl")) // the pattern is well formed
		for _, path := range paths {
			if text, err := os.ReadFile(path); err == nil && strings.Contains(string(text), words) {
				return true, ""
			}
		}
		return false, strings.Join(paths, " ")
	})
}
