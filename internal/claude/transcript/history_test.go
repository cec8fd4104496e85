package transcript

import (
	"path/filepath"
	"testing"
	"time"

	"nbs-worker/internal/sim/rig"
)

func TestFirstMention(t *testing.T) {
	t.Parallel()
	line := func(id string) string {
		return `{"display":"hi","timestamp":1771587847000,"project":"/srv","sessionId":"` + id + `"}` + "\n"
	}
	other, mine := line(string(otherID)), line(string(sessionID))
	none, when := time.Time{}, time.UnixMilli(1771587847000)
	for what, c := range map[string]struct {
		history   File
		at        time.Time
		mentioned bool
	}{
		"without a history":   {File{Path: filepath.Join(t.TempDir(), "history.jsonl")}, none, false},
		"others only":         {put(t, other, line(string(sessionID)+"0"), "in text: "+string(sessionID)+"\n"), none, false},
		"named":               {put(t, other, mine, mine), when, true},
		"in a line cut short": {put(t, other, mine[:len(mine)-2]), none, true},
	} {
		at, mentioned, err := History(c.history.Path).FirstMention(sessionID)
		rig.Check(t, at.Equal(c.at) && mentioned == c.mentioned && err == nil, "%s: %s, %t, %v", what, at, mentioned, err)
	}
}
