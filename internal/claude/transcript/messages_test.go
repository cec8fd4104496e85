package transcript

import (
	"strings"
	"testing"

	"nbs-worker/internal/sim/rig"
)

func TestHasMessagesAfter(t *testing.T) {
	t.Parallel()
	reply := replyLine("2.1.329", "claude-opus-5-5", 10)
	for what, c := range map[string]struct {
		text   string
		offset int
		want   bool
	}{
		"empty":                      {"", 0, false},
		"only a mode and a snapshot": {metaLine, 0, false},
		"a message":                  {metaLine + userLine, 0, true},
		"a reply":                    {metaLine + reply, 0, true},
		"an error of the API":        {errorLine, 0, true},
		"a message before":           {userLine + metaLine, len(userLine), false},
		"a message behind":           {userLine + metaLine + userLine, len(userLine), true},
		"a sidechain's message":      {metaLine + sidechainLine, 0, false},
		"a message cut short":        {metaLine + userLine[:len(userLine)-9], 0, false},
		"without final line break":   {metaLine + strings.TrimSuffix(userLine, "\n"), 0, true},
		"junk around it":             {"\x00\x00\n{\n" + userLine + "junk", 0, true},
		"the words in another type":  {`{"type":"queue-operation","content":"\"user\" \"assistant\""}` + "\n", 0, false},
		"offset behind the end":      {userLine, 1 << 20, false},
		"offset within a line":       {userLine + userLine, 7, true},
		"a long line before":         {`{"type":"attachment","x":"` + strings.Repeat("x", 200_000) + `"}` + "\n" + userLine, 0, true},
	} {
		transcript := put(t, c.text)
		got, err := transcript.HasMessagesAfter(int64(c.offset))
		rig.Check(t, got == c.want && err == nil, "%s: %t, %v; want %t", what, got, err, c.want)
	}
}
