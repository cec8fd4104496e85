package transcript

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

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
		"a record of many pieces":    {userLine + strings.Replace(reply(50), "OK.", strings.Repeat("long ", 250_000), 1) + userLine, 101},
		"too far from the end":       {reply(50) + strings.Repeat(strings.Repeat("x", 1<<20-1)+"\n", backwardLimit>>20), 0},
	} {
		level, known, err := contextOf(put(t, c.lines), "")
		rig.Check(t, level.Tokens == c.want && known == (c.want > 0) && err == nil, "%s: %+v, %t, %v; want %d tokens", what, level, known, err, c.want)
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
		transcript := put(t, replyLine(c.version, c.wire, 50_000))
		level, known, err := contextOf(transcript, c.recorded)
		rig.Check(t, level.Window == c.want && known && err == nil, "%+v: window %d, %v", c, level.Window, err)
	}
}

func TestUsedPercentIsRounded(t *testing.T) {
	t.Parallel()
	for level, want := range map[Level]int{
		{Tokens: 999, Window: 200_000}: 0, {Tokens: 1000, Window: 200_000}: 1, {Tokens: 32_077, Window: 200_000}: 16,
		{Tokens: 199_999, Window: 200_000}: 100, {Tokens: 250_000, Window: 200_000}: 125,
	} {
		if got := level.Use(); got.UsedPercent != want || got.Tokens != level.Tokens || got.Window != level.Window || got.Source != agent.SaysTranscript {
			t.Errorf("%+v: %+v; want %d %%", level, got, want)
		}
	}
	got := (Level{Window: 200_000}).Use()
	rig.Check(t, got == nil, "nothing is known, and it says %+v", got)
}

// contextOf reads a level and says whether it is known.
func contextOf(transcript File, model agent.Model) (level Level, known bool, err error) {
	level, err = transcript.Context(model)
	return level, level.Use() != nil, err
}

// The cost is the last sum that Claude wrote down; there may be replies on both sides of it.
func TestCostFromTheTranscript(t *testing.T) {
	t.Parallel()
	reply := replyLine("2.1.329", "claude-opus-5-5", 50)
	sum := func(usd string) string {
		return `{"type":"cost-state","sessionId":"` + string(sessionID) + `","totalCostUSD":` + usd + `,"modelUsage":{}}` + "\n"
	}
	const unknown = -1
	for what, c := range map[string]struct {
		lines string
		want  float64
	}{
		"none":                      {reply, unknown},
		"at the end":                {reply + sum("0.0616"), 0.0616},
		"the last of several":       {sum("0.0616") + reply + sum("0.1233"), 0.1233},
		"before the last reply":     {reply + sum("0.5") + userLine + reply, 0.5},
		"nothing was spent":         {reply + sum("0"), 0},
		"without the sum":           {reply + `{"type":"cost-state"}` + "\n", unknown},
		"of another form":           {reply + sum(`"much"`), unknown},
		"spoken of in a message":    {strings.Replace(userLine, "Remember 42.", `{\"type\":\"cost-state\",\"totalCostUSD\":7}`, 1) + reply, unknown},
		"before any reply":          {sum("0.25"), 0.25},
		"too far from the end":      {sum("0.25") + strings.Repeat("x", 2*costReach) + "\n" + reply, unknown},
		"compacted since, the same": {reply + sum("0.75") + compactLine, 0.75},
	} {
		level, err := put(t, c.lines).Context("")
		cost := level.Cost()
		if err != nil || (cost == nil) != (c.want == unknown) || cost != nil && *cost != (agent.Cost{USD: c.want, Source: agent.SaysTranscript}) {
			t.Errorf("%s: %+v, %v; want %v", what, cost, err, c.want)
		}
	}
}

func TestWhenTheLevelWasSo(t *testing.T) {
	t.Parallel()
	reply := replyLine("2.1.329", "claude-opus-5-5", 50)
	stamped := func(line, at string) string { return strings.Replace(line, "{", `{"timestamp":"`+at+`",`, 1) }
	const first, second = "2026-02-20T11:44:07.250Z", "2026-02-20T11:45:00Z"
	for want, lines := range map[string]string{
		first:  stamped(reply, first) + stamped(userLine, second),
		second: stamped(reply, first) + stamped(compactLine, second),
	} {
		level, err := put(t, lines).Context("")
		at, _ := time.Parse(time.RFC3339, want)
		rig.Check(t, err == nil && level.At.Equal(at), "%+v, %v; want %s", level, err, want)
	}
	level, err := put(t, reply).Context("")
	rig.Check(t, err == nil && level.At.IsZero(), "%+v, %v", level, err)
}

// The reader goes backward in pieces of 64 KiB; a record may lie across their border.
func TestContextAcrossPieces(t *testing.T) {
	t.Parallel()
	reply := replyLine("2.1.329", "claude-opus-5-5", 50)
	const piece = 1 << 16
	for _, behind := range []int{piece - len(reply) - 1, piece - len(reply), piece - len(reply)/2, piece - 2, piece - 1, piece, piece + 1, 2 * piece, 3*piece + 7} {
		for _, before := range []string{"", userLine, strings.Repeat("x", piece) + "\n"} {
			transcript := put(t, before, reply, `{"type":"`+strings.Repeat("x", behind-12)+`"}`+"\n")
			level, known, err := contextOf(transcript, "")
			rig.Check(t, level.Tokens == 101 && known && err == nil, "%d bytes before, %d behind: %+v, %t, %v", len(before), behind, level, known, err)
		}
	}
}

// A file that becomes shorter while it is read, or cannot be read, is not taken for one with nothing in it,
// however large it was.
func TestBackwardTellsThatItCannotRead(t *testing.T) {
	t.Parallel()
	for _, size := range []int64{100, backwardLimit, 2 * backwardLimit} {
		err := eachLineBackward(strings.NewReader(userLine[:10]), size, func([]byte, int64) bool { return true })
		rig.Check(t, errors.Is(err, io.ErrUnexpectedEOF), "of %d bytes: %v; want an error", size, err)
	}
	_, known, err := contextOf(At(filepath.Join(t.TempDir(), "gone")), "")
	rig.Check(t, !known && err != nil, "a transcript that is gone: %t, %v; want an error", known, err)
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
		file := put(t, c.lines)
		rig.Gives(t, c.want, "%s", what)(file.LastCwd())
		rig.Gives(t, c.want, "%s, of which only the path is known", what)(At(file.Path).LastCwd())
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
		rig.Must(t, os.WriteFile(path, text, 0o600))
		transcript := File{Path: path, Size: int64(len(text))}
		level, known, err := contextOf(transcript, "opus")
		if err != nil || known && (level.Tokens <= 0 || level.Window <= 0 || level.Use().UsedPercent < 0) {
			t.Errorf("Context = %+v, %+v, %t, %v", level, level.Use(), known, err)
		}
		cwd, spoken := readForward(text)
		rig.Gives(t, cwd, "LastCwd")(transcript.LastCwd())
		rig.Gives(t, spoken, "HasMessagesAfter")(transcript.HasMessagesAfter(0))
		_, err = transcript.HasMessagesAfter(max(0, before))
		rig.Check(t, err == nil, "%v", err)
	})
}

// readForward reads a transcript in the simplest way.
func readForward(text []byte) (cwd string, spoken bool) {
	for line := range bytes.SplitSeq(text, []byte{'\n'}) {
		var record conversationRecord
		if unmarshalRecord(line, &record) != nil {
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
