package claude

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/sim/rig"
)

func TestContext(t *testing.T) {
	t.Parallel()
	const opus = "claude-opus-5-5"
	reply := func(input int) string { return replyLine("2.1.329", opus, input) }
	side := strings.Replace(reply(9000), `"isSidechain":false`, `"isSidechain":true`, 1)
	for what, c := range map[string]struct {
		lines string
		want  int // tokens; 0: unknown
	}{
		"empty":                      {"", 0},
		"no reply yet":               {metaLine + userLine, 0},
		"one reply":                  {userLine + reply(50), 101},
		"the last of several":        {reply(50) + userLine + reply(700) + metaLine, 1401},
		"a failed turn behind":       {reply(50) + userLine + errorLine, 101},
		"a sidechain behind":         {reply(50) + side, 101},
		"compacted since":            {reply(50) + compactLine + userLine, 0},
		"compacted, then a reply":    {reply(70_000) + compactLine + reply(50), 101},
		"cut short":                  {reply(50) + reply(70_000)[:150], 101},
		"junk behind":                {reply(50) + "\x00\x00\nnull\n[]\n7\n", 101},
		"without usage":              {`{"type":"assistant","message":{"model":"m"}}` + "\n", 0},
		"usage of another form":      {reply(50) + `{"type":"assistant","message":{"model":"m","usage":[]}}` + "\n", 101},
		"several records of a reply": {reply(50) + reply(50), 101},
	} {
		level, known, err := newConfig(t).putTranscript(t, c.lines).Context("")
		if level.Tokens != c.want || known != (c.want > 0) || err != nil {
			t.Errorf("%s: %+v, %t, %v; want %d tokens", what, level, known, err, c.want)
		}
	}
}

func TestContextWindow(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		version, wire string
		recorded      agent.Model
		want          int
	}{
		{"2.1.197", "claude-opus-4-8", "opus", 200_000},
		{"2.1.197", "claude-opus-4-8", "opus[1m]", 1_000_000},
		{"2.1.197", "claude-sonnet-5", "", 200_000},
		{"2.1.299", "claude-sonnet-5", "", 200_000},
		{"2.1.300", "claude-sonnet-5", "", 1_000_000},
		{"2.1.329", "claude-opus-5-5", "opus", 1_000_000},
		{"2.1.329", "claude-sonnet-4-5", "claude-sonnet-4-5", 200_000},
		{"2.1.329", "claude-sonnet-4-5-20250929", "sonnet[1m]", 1_000_000},
		{"2.0.999", "claude-x", "", 200_000},
		{"1.9.999", "claude-x", "", 200_000},
		{"2.2.0", "claude-x", "", 1_000_000},
		{"3.0.0", "claude-x", "", 1_000_000},
		{"2.1.197-beta.1", "claude-x", "", 200_000},
		{"", "claude-x", "", 1_000_000},
		{"next", "claude-x", "", 1_000_000},
	} {
		transcript := newConfig(t).putTranscript(t, replyLine(c.version, c.wire, 50_000))
		level, known, err := transcript.Context(c.recorded)
		if level.Window != c.want || !known || err != nil {
			t.Errorf("%+v: window %d, %v", c, level.Window, err)
		}
	}
}

func TestUsedPercentIsRounded(t *testing.T) {
	t.Parallel()
	for level, want := range map[ContextLevel]int{
		{Tokens: 0, Window: 200_000}: 0, {Tokens: 999, Window: 200_000}: 0, {Tokens: 1000, Window: 200_000}: 1,
		{Tokens: 32_077, Window: 200_000}: 16, {Tokens: 199_999, Window: 200_000}: 100, {Tokens: 250_000, Window: 200_000}: 125,
	} {
		if got := level.UsedPercent(); got != want {
			t.Errorf("%+v: %d %%; want %d", level, got, want)
		}
	}
}

// The reader goes backward in pieces of 256 KiB; a record may lie across their border.
func TestContextAcrossPieces(t *testing.T) {
	t.Parallel()
	reply := replyLine("2.1.329", "claude-opus-5-5", 50)
	const piece = 1 << 18
	for _, behind := range []int{piece - len(reply) - 1, piece - len(reply), piece - len(reply)/2, piece - 2, piece - 1, piece, piece + 1, 2 * piece, 3*piece + 7} {
		for _, before := range []string{"", userLine, strings.Repeat("x", piece) + "\n"} {
			transcript := newConfig(t).putTranscript(t, before, reply, `{"type":"`+strings.Repeat("x", behind-12)+`"}`+"\n")
			if level, known, err := transcript.Context(""); level.Tokens != 101 || !known || err != nil {
				t.Errorf("%d bytes before, %d behind: %+v, %t, %v", len(before), behind, level, known, err)
			}
		}
	}
}

func TestContextReadsARecordOfManyPieces(t *testing.T) {
	t.Parallel()
	long := strings.Replace(replyLine("2.1.329", "claude-opus-5-5", 50), "OK.", strings.Repeat("long ", 250_000), 1)
	transcript := newConfig(t).putTranscript(t, userLine, long, userLine)
	if level, known, err := transcript.Context(""); level.Tokens != 101 || !known || err != nil {
		t.Errorf("%+v, %t, %v", level, known, err)
	}
}

func TestContextGivesUpFarFromTheEnd(t *testing.T) {
	t.Parallel()
	filler := strings.Repeat(strings.Repeat("x", 1<<20-1)+"\n", backwardLimit>>20)
	transcript := newConfig(t).putTranscript(t, replyLine("2.1.329", "claude-opus-5-5", 50), filler)
	if level, known, err := transcript.Context(""); known || err != nil {
		t.Errorf("%+v, %t, %v; want unknown", level, known, err)
	}
}

func TestContextOfATranscriptThatShrank(t *testing.T) {
	t.Parallel()
	transcript := newConfig(t).putTranscript(t, userLine, userLine)
	if err := os.Truncate(transcript.Path, 10); err != nil {
		t.Fatal(err)
	}
	if level, known, err := transcript.Context(""); known || err == nil {
		t.Errorf("%+v, %t, %v; want an error", level, known, err)
	}
	transcript.Path = filepath.Join(t.TempDir(), "gone")
	if _, known, err := transcript.Context(""); known || err == nil {
		t.Errorf("a transcript that is gone: %t, %v; want an error", known, err)
	}
}

func TestLastCwd(t *testing.T) {
	t.Parallel()
	moved := strings.Replace(userLine, "/srv/project", "/srv/moved", 1)
	for what, c := range map[string]struct{ lines, want string }{
		"empty":                {"", ""},
		"none recorded":        {metaLine, ""},
		"one":                  {metaLine + userLine + metaLine, "/srv/project"},
		"continued elsewhere":  {userLine + moved + metaLine, "/srv/moved"},
		"the newest cut short": {userLine + moved[:len(moved)-5], "/srv/project"},
	} {
		if got, err := newConfig(t).putTranscript(t, c.lines).LastCwd(); got != c.want || err != nil {
			t.Errorf("%s: %q, %v; want %q", what, got, err, c.want)
		}
	}
}

func FuzzTranscript(f *testing.F) {
	moved := strings.Replace(userLine, "/srv/project", "/srv/moved", 1)
	f.Add([]byte(metaLine+userLine+replyLine("2.1.197", "claude-sonnet-5", 50)+compactLine), int64(0))
	f.Add([]byte(sidechainLine+errorLine+"\n\n{"), int64(7))
	f.Add([]byte(`{"type":"assistant","message":{"model":"m","usage":{"input_tokens":9223372036854775807,"cache_read_input_tokens":1}}}`), int64(0))
	f.Add([]byte("null\n[]\n\x00"), int64(1<<40))
	f.Add([]byte(`{"type":"assistant","message":{"model":"m","usage":{"input_tokens":9200000000000000000}}}`), int64(0))
	f.Add([]byte(userLine+moved+metaLine), int64(1<<18-200)) // a line across the border of two pieces
	path := filepath.Join(rig.MemoryDir(f), "t.jsonl")
	f.Fuzz(func(t *testing.T, text []byte, before int64) {
		// Whatever stands before it, a transcript ends as its last lines say.
		text = slices.Concat(bytes.Repeat([]byte{'.'}, int(max(0, before)%(3<<17))), []byte("\n"), text)
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		transcript := Transcript{Path: path, Size: int64(len(text))}
		level, known, err := transcript.Context("opus")
		if err != nil || known && (level.Tokens <= 0 || level.Window <= 0 || level.UsedPercent() < 0) {
			t.Errorf("Context = %+v, %d %%, %t, %v", level, level.UsedPercent(), known, err)
		}
		cwd, spoken := readForward(text)
		if got, err := transcript.LastCwd(); got != cwd || err != nil {
			t.Errorf("LastCwd = %q, %v; want %q", got, err, cwd)
		}
		if got, err := transcript.SpokenAfter(0); got != spoken || err != nil {
			t.Errorf("SpokenAfter = %t, %v; want %t", got, err, spoken)
		}
		if _, err := transcript.SpokenAfter(max(0, before)); err != nil {
			t.Error(err)
		}
	})
}

// readForward reads a transcript in the simplest way.
func readForward(text []byte) (cwd string, spoken bool) {
	for line := range bytes.SplitSeq(text, []byte{'\n'}) {
		var record transcriptRecord
		if json.Unmarshal(line, &record) != nil {
			continue
		}
		if record.Cwd != "" {
			cwd = record.Cwd
		}
		message := bytes.Contains(line, []byte(`"user"`)) && record.Type == "user" || bytes.Contains(line, []byte(`"assistant"`)) && record.Type == "assistant"
		spoken = spoken || message && !record.IsSidechain
	}
	return cwd, spoken
}
