package transcript

import (
	"path/filepath"
	"testing"

	"nbs-worker/internal/sim/rig"
)

func TestMentions(t *testing.T) {
	t.Parallel()
	if mentioned, err := History(filepath.Join(t.TempDir(), "history.jsonl")).Mentions(sessionID); mentioned || err != nil {
		t.Errorf("without a history: %t, %v", mentioned, err)
	}
	line := func(id string) string { return `{"display":"hi","project":"/srv","sessionId":"` + id + `"}` + "\n" }
	others := put(t, line(string(otherID)), line(string(sessionID)+"0"), "in text: "+string(sessionID)+"\n")
	if mentioned, err := History(others.Path).Mentions(sessionID); mentioned || err != nil {
		t.Errorf("others only: %t, %v", mentioned, err)
	}
	named := put(t, line(string(otherID)), line(string(sessionID)))
	mentioned, err := History(named.Path).Mentions(sessionID)
	rig.Check(t, mentioned && err == nil, "named: %t, %v", mentioned, err)
}
