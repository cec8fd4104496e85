package memory

import (
	"os"
	"testing"

	"nbs-worker/internal/e2e"
)

// What a dismiss removes of the conversations that the archive keeps, and what it spares.

func TestDismissRemovesWhatIsKept(t *testing.T) {
	m := standIn(t)
	alpha := m.Remembers("alpha")
	m.OK("dismiss", "alpha")
	for _, path := range []string{m.KeptPath(alpha.SessionID), m.InNbs("status", "alpha.json")} {
		_, err := os.Lstat(path)
		m.Check(os.IsNotExist(err), "%s: %v", path, err)
	}
	beta := m.Remembers("beta")
	var said struct {
		Kept []string `json:"kept_transcripts"`
	}
	err := e2e.One(m.OK("dismiss", "beta", "--keep", "--json"), &said)
	m.Check(err == nil && len(said.Kept) == 1 && said.Kept[0] == m.KeptPath(beta.SessionID), "%+v, %v", said, err)
}
