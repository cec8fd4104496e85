package transcript

import (
	"bytes"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"nbs-worker/internal/sim/rig"
)

// What is looked for may lie across two pieces that are read.
func TestStreamContainsAcrossPieces(t *testing.T) {
	t.Parallel()
	const needle = "needle"
	for at := 1<<16 - len(needle) - 1; at <= 1<<16+1; at++ {
		for filler, want := range map[string]bool{needle: true, "needl-": false} {
			text := strings.Repeat("n", at) + filler + strings.Repeat("e", 1<<16)
			rig.Gives(t, want, "%s at %d", filler, at)(streamContains(strings.NewReader(text), []byte(needle)))
		}
	}
	slow := iotest.OneByteReader(strings.NewReader("nneneeneedlle needle"))
	rig.Gives(t, true, "byte by byte")(streamContains(slow, []byte(needle)))
	broken := iotest.TimeoutReader(iotest.OneByteReader(strings.NewReader("xx")))
	got, err := streamContains(broken, []byte(needle))
	rig.Check(t, !got && err != nil, "a read that fails: %t, %v; want the error", got, err)
}

// What is looked for is found wherever the pieces of the stream are cut.
func FuzzStreamContains(f *testing.F) {
	f.Add([]byte("x"+string(sessionID)+"x"), []byte(sessionID), uint32(1<<16-10))
	f.Add([]byte("aab"), []byte("ab"), uint32(1<<16-1))
	f.Add([]byte(""), []byte("a"), uint32(0))
	f.Fuzz(func(t *testing.T, text, needle []byte, before uint32) {
		if len(needle) == 0 || len(needle) > 1000 {
			return // it is a session id in quotes
		}
		text = slices.Concat(bytes.Repeat([]byte{'.'}, int(before%(1<<18))), text)
		for how, r := range map[string]io.Reader{
			"whole": bytes.NewReader(text), "by halves": iotest.HalfReader(bytes.NewReader(text)), "end with data": iotest.DataErrReader(bytes.NewReader(text)),
		} {
			rig.Gives(t, bytes.Contains(text, needle), "%s", how)(streamContains(r, needle))
		}
	})
}

func TestMentions(t *testing.T) {
	t.Parallel()
	rig.Gives(t, false, "without a history")(History(filepath.Join(t.TempDir(), "history.jsonl")).Mentions(sessionID))
	line := func(id string) string { return `{"display":"hi","project":"/srv","sessionId":"` + id + `"}` + "\n" }
	others := put(t, line(string(otherID)), line(string(sessionID)+"0"), "in text: "+string(sessionID)+"\n")
	rig.Gives(t, false, "others only")(History(others.Path).Mentions(sessionID))
	named := put(t, line(string(otherID)), line(string(sessionID)))
	rig.Gives(t, true, "named")(History(named.Path).Mentions(sessionID))
}
