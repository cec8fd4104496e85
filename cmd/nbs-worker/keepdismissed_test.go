package main

import (
	"encoding/json"
	"os"
	"testing"
)

// What a dismiss removes of the conversations that the archive keeps, and what it spares.

func TestDismissRemovesWhatIsKept(t *testing.T) {
	m := standIn(t)
	alpha := m.remembers("alpha")
	m.ok("dismiss", "alpha")
	for _, path := range []string{m.keptPath(alpha.SessionID), m.inNbs("status", "alpha.json")} {
		_, err := os.Lstat(path)
		m.check(os.IsNotExist(err), "%s: %v", path, err)
	}
	beta := m.remembers("beta")
	var said struct {
		Kept []string `json:"kept_transcripts"`
	}
	err := json.Unmarshal([]byte(m.ok("dismiss", "beta", "--keep", "--json")), &said)
	m.check(err == nil && len(said.Kept) == 1 && said.Kept[0] == m.keptPath(beta.SessionID), "%+v, %v", said, err)
}
