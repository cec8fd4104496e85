package transcript

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"nbs-worker/internal/sim/rig"
)

// told is a record of a conversation: a person's or the agent's.
func told(uuid, parent, kind, text string) string {
	record := map[string]any{"type": kind, "uuid": uuid, "parentUuid": nil, "message": map[string]any{"content": text}}
	if parent != "" {
		record["parentUuid"] = parent
	}
	line, err := json.Marshal(record)
	if err != nil {
		panic(err)
	}
	return string(line)
}

func textsOf(t testing.TB, c *Conversation) []string {
	t.Helper()
	var texts []string
	rig.Must(t, c.Each(func(m Message) error { texts = append(texts, string(m.Speaker)+" "+m.Text); return nil }))
	rig.Check(t, len(texts) == c.Messages, "%d messages of %d", len(texts), c.Messages)
	return texts
}

func mustRead(t testing.TB, transcript File, reading Wanted) *Conversation {
	t.Helper()
	c, err := transcript.Conversation(reading)
	rig.Must(t, err)
	return c
}

func TestConversationIsTheNewestBranch(t *testing.T) {
	t.Parallel()
	const boundary = `{"type":"system","subtype":"compact_boundary","uuid":"5","parentUuid":null,"logicalParentUuid":"4","compactMetadata":{"trigger":"auto","preTokens":7}}`
	const tools = `{"type":"assistant","uuid":"u1","parentUuid":"1","message":{"content":[{"type":"tool_use","name":"Bash","input":{"a":1}}]}}
{"type":"assistant","uuid":"u2","parentUuid":"u1","message":{"content":[{"type":"tool_use","name":"Read","input":{}}]}}
{"type":"user","uuid":"r1","parentUuid":"u1","message":{"content":[{"type":"tool_result","content":"one"}]}}
{"type":"user","uuid":"r2","parentUuid":"u2","message":{"content":[{"type":"tool_result","content":[{"type":"text","text":"two"}],"is_error":true}]}}`
	one := told("1", "", "user", "a")
	for what, c := range map[string]struct {
		lines     []string
		reading   Wanted
		want      []string
		elsewhere int
		gaps      int
	}{
		"empty": {want: nil},
		"a task ended": {lines: []string{
			one, told("2", "1", "assistant", "b"),
			`{"type":"user","uuid":"3","parentUuid":"2","promptSource":"sdk","origin":{"kind":"task-notification"},"message":{"content":"<task-notification>"}}`,
			told("4", "3", "assistant", "c"),
		}, want: []string{"you a", "agent b", "agent c"}},
		"one":            {lines: []string{one}, want: []string{"you a"}},
		"torn end":       {lines: []string{one, told("2", "1", "assistant", "b")[:30]}, want: []string{"you a"}},
		"fork":           {lines: []string{one, told("2", "1", "assistant", "b"), told("3", "1", "assistant", "c")}, want: []string{"you a", "agent c"}, elsewhere: 1},
		"compacted":      {lines: []string{told("4", "", "user", "a"), boundary, told("6", "5", "user", "b")}, want: []string{"you a", "compacted the conversation was compacted (auto), from 7 tokens", "you b"}},
		"damaged record": {lines: []string{one, told("2", "1", "assistant", "b")[:40], told("3", "2", "user", "c")}, want: []string{"you a", "you c"}, gaps: 1},
		"first turn in disorder": {lines: []string{`{"type":"system","uuid":"t","parentUuid":"2"}`, one, `{"type":"attachment","uuid":"x","parentUuid":"1"}`, told("2", "x", "assistant", "b"),
			told("3", "t", "user", "c")}, want: []string{"you a", "agent b", "you c"}},
		"answer before its question": {lines: []string{told("2", "x", "assistant", "b"), one, `{"type":"attachment","uuid":"x","parentUuid":"1"}`,
			`{"type":"system","uuid":"t","parentUuid":"2"}`, told("3", "t", "user", "c")}, want: []string{"you a", "agent b", "you c"}},
		"nothing but an answer before its question": {lines: []string{told("2", "x", "assistant", "b"), one, `{"type":"attachment","uuid":"x","parentUuid":"1"}`},
			want: []string{"you a", "agent b"}},
		"copied boundary": {lines: []string{boundary, told("6", "5", "user", "b")},
			want: []string{"compacted the conversation was compacted (auto), from 7 tokens", "you b"}},
		"tools hidden": {lines: []string{one, tools, told("3", "r2", "assistant", "c")}, want: []string{"you a", "agent c"}},
		"tools side by side": {lines: []string{one, tools, told("3", "r2", "assistant", "c")}, reading: Wanted{Tools: true},
			want: []string{"you a", `tool {"a":1}`, "tool {}", "tool one", "tool failed: two", "agent c"}},
		"the last two": {lines: []string{one, told("2", "1", "assistant", "b"), told("3", "2", "user", "c")}, reading: Wanted{Last: 2}, want: []string{"agent b", "you c"}},
		"subagent":     {lines: []string{one, `{"type":"user","uuid":"9","parentUuid":null,"isSidechain":true,"message":{"content":"side"}}`}, want: []string{"you a"}},
		"of a project": {lines: []string{told("1", "", "user", "<command-message>daily</command-message>\n<command-name>/daily</command-name>\n<command-args>now</command-args>")}, want: []string{"you /daily now"}},
		"without args": {lines: []string{told("1", "", "user", "<command-message>daily</command-message>\n<command-name>/daily</command-name>")}, want: []string{"you /daily"}},
		"command":      {lines: []string{told("1", "", "user", "<command-name>/model</command-name>\n <command-message>model</command-message>\n<command-args>opus</command-args>")}, want: []string{"you /model opus"}},
		"own words":    {lines: []string{one, `{"type":"user","uuid":"2","parentUuid":"1","isMeta":true,"message":{"content":"caveat"}}`}, want: []string{"you a"}},
		"while busy": {lines: []string{one, `{"type":"attachment","uuid":"2","parentUuid":"1","attachment":{"type":"queued_command","prompt":"stop it","commandMode":"prompt"}}`,
			told("3", "2", "assistant", "c")}, want: []string{"you a", "you stop it", "agent c"}},
	} {
		got := mustRead(t, put(t, strings.Join(c.lines, "\n")+"\n"), c.reading)
		if texts := textsOf(t, got); !slices.Equal(texts, c.want) || got.Elsewhere != c.elsewhere || got.Gaps != c.gaps {
			t.Errorf("%s: %q, %d elsewhere, %d gaps; want %q, %d, %d", what, texts, got.Elsewhere, got.Gaps, c.want, c.elsewhere, c.gaps)
		}
	}
}

// A transcript of 100 MB with a line of 40 MB is read in little memory, the end of it
// without reading the rest.
func TestLongTranscriptIsReadInLittleMemory(t *testing.T) {
	path := filepath.Join(t.TempDir(), "t.jsonl")
	f, err := os.Create(path)
	rig.Must(t, err)
	defer f.Close()
	write := func(text string) {
		t.Helper()
		if _, err := f.WriteString(text); err != nil {
			t.Fatal(err)
		}
	}
	const records, filling = 1000, 60_000
	parent := ""
	for i := range records {
		uuid := strconv.Itoa(i)
		write(told(uuid, parent, "user", fmt.Sprint("number ", i, strings.Repeat(" ", filling))) + "\n")
		parent = uuid
	}
	write(`{"parentUuid":"` + parent + `","isSidechain":false,"message":{"content":[{"type":"text","text":"huge é\"`)
	const huge = 40 // MiB
	for range huge {
		write(strings.Repeat("x", 1<<20))
	}
	write(`"}]},"type":"assistant","uuid":"huge","timestamp":"2026-02-20T11:44:07Z"}` + "\n" + told("last", "huge", "user", "z") + "\n")
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	c := mustRead(t, File{Path: path}, Wanted{Last: 3})
	var all []Message
	rig.Must(t, c.Each(func(m Message) error { all = append(all, m); return nil }))
	runtime.ReadMemStats(&after)
	if len(all) != 3 || !strings.HasPrefix(all[0].Text, fmt.Sprint("number ", records-1)) || !strings.HasPrefix(all[1].Text, `huge é"xxx`) ||
		all[1].Speaker != Agent || all[1].Bytes < huge<<20 || len(all[1].Text) > cutTextKept || all[1].At.IsZero() || all[2].Text != "z" {
		t.Errorf("%d messages: %+.200v", len(all), all)
	}
	used := after.TotalAlloc - before.TotalAlloc
	rig.Check(t, used <= 8<<20, "the last three took %d bytes of memory in all", used)
	whole := mustRead(t, File{Path: path}, Wanted{})
	var peak uint64
	n := 0
	if err := whole.Each(func(Message) error {
		if n++; n%100 == 0 {
			runtime.GC()
			runtime.ReadMemStats(&after)
			peak = max(peak, after.HeapAlloc)
		}
		return nil
	}); err != nil || n != records+2 {
		t.Errorf("%d messages, %v", n, err)
	}
	rig.Check(t, peak <= before.HeapAlloc+16<<20, "%d bytes in use", peak)
}

// What is said later is read once, and only when it is whole.
func TestLaterMessages(t *testing.T) {
	t.Parallel()
	transcript := put(t, told("1", "", "user", "a")+"\n"+told("2", "1", "user", "b")[:20])
	c := mustRead(t, transcript, Wanted{})
	at := c.End
	var got []string
	read := func() {
		t.Helper()
		var err error
		at, err = transcript.Later(at, Wanted{}, func(m Message) error { got = append(got, m.Text); return nil }, func() { got = append(got, "begun anew") })
		rig.Must(t, err)
	}
	read()
	appendTo(t, transcript.Path, told("2", "1", "user", "b")[20:])
	read()
	rig.Check(t, len(got) == 0, "half a line gave %q", got)
	const long = 1 << 19 // bytes, of a line that is found in several pieces
	appendTo(t, transcript.Path, "\nno record\n"+told("3", "2", "user", strings.Repeat("c", long))+"\n"+told("4", "3", "user", "d")+"\n")
	read()
	read()
	rig.Check(t, len(got) == 3 && got[0] == "b" && len(got[1]) == long && got[2] == "d", "%.100q", got)
}

func appendTo(t *testing.T, path, text string) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	rig.Must(t, err)
	defer f.Close()
	if _, err := f.WriteString(text); err != nil {
		t.Fatal(err)
	}
}

// No transcript stops the reader, and what is read of the end is the end of all.
func FuzzConversation(f *testing.F) {
	for _, text := range []string{
		told("1", "", "user", "a") + "\n" + told("2", "1", "assistant", "b") + "\n" + told("3", "1", "user", "c") + "\n",
		told("1", "1", "user", "a") + "\n", told("1", "2", "user", "a") + "\n" + told("2", "1", "user", "a") + "\n",
		"{}\nnull\n[]\n\n", `{"type":"user","uuid":"1","message":{"content":[null,{},{"type":"tool_result"},"x",{"type":"text","text":7}]}}` + "\n", "{", "",
	} {
		f.Add(text)
	}
	path := filepath.Join(f.TempDir(), "t.jsonl")
	f.Fuzz(func(t *testing.T, text string) {
		rig.Must(t, os.WriteFile(path, []byte(text), 0o600))
		transcript := File{Path: path, Size: int64(len(text))}
		all := textsOf(t, mustRead(t, transcript, Wanted{Tools: true}))
		for n := 1; n <= 3; n++ {
			last := textsOf(t, mustRead(t, transcript, Wanted{Tools: true, Last: n}))
			rig.Check(t, len(last) <= n && len(last) <= len(all), "the last %d of %q are %q", n, all, last)
		}
		end, err := transcript.Later(Place{}, Wanted{}, func(Message) error { return nil }, func() {})
		rig.Check(t, err == nil && end.offset <= int64(len(text)), "read up to %d of %d: %v", end.offset, len(text), err)
	})
}
