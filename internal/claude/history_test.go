package claude

import (
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
		history   string // "": none
		at        time.Time
		mentioned bool
	}{
		"without a history":   {"", none, false},
		"others only":         {other + line(string(sessionID)+"0") + "in text: " + string(sessionID) + "\n", none, false},
		"named":               {other + mine + mine, when, true},
		"in a line cut short": {other + mine[:len(mine)-2], none, true},
	} {
		config := newConfig(t)
		if c.history != "" {
			config.put(t, "history.jsonl", c.history)
		}
		at, mentioned, err := config.firstMention(sessionID)
		rig.Check(t, at.Equal(c.at) && mentioned == c.mentioned && err == nil, "%s: %s, %t, %v", what, at, mentioned, err)
	}
}
