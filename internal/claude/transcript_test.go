package claude

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"
	"time"
)

func TestTranscriptIsFoundInWhateverFolder(t *testing.T) {
	t.Parallel()
	c := newConfig(t)
	if _, found, err := c.Transcript(sessionID); found || err != nil {
		t.Fatalf("without any: found %t, %v", found, err)
	}
	c.put(t, "projects/-srv-other/"+string(otherID)+".jsonl", userLine)
	c.put(t, "projects/-srv-project/"+string(sessionID)+".jsonl.unspoken", userLine)
	c.put(t, "projects/"+string(sessionID)+".jsonl", userLine) // not in a project's folder
	if err := os.MkdirAll(filepath.Join(c.dir, "projects/-a", string(sessionID)+".jsonl"), 0o700); err != nil {
		t.Fatal(err)
	}
	if _, found, err := c.Transcript(sessionID); found || err != nil {
		t.Fatalf("only what looks like it: found %t, %v", found, err)
	}
	old := c.put(t, "projects/-srv-a-b-c/"+string(sessionID)+".jsonl", userLine)
	if got, found, err := c.Transcript(sessionID); got.Path != old || !found || got.Size != int64(len(userLine)) || err != nil {
		t.Errorf("Transcript = %+v, %t, %v; want %s", got, found, err, old)
	}
	fresh := c.put(t, "projects/-Z/"+string(sessionID)+".jsonl", userLine+userLine)
	if err := os.Chtimes(old, someTime(), someTime()); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(fresh, someTime(), someTime().Add(time.Second)); err != nil {
		t.Fatal(err)
	}
	if got, _, err := c.Transcript(sessionID); got.Path != fresh || err != nil {
		t.Errorf("of two: %s, %v; want the one written last, %s", got.Path, err, fresh)
	}
}

func TestTranscriptThatCannotBeLookedForIsNotAbsent(t *testing.T) {
	t.Parallel()
	c := newConfig(t)
	c.put(t, "projects", "a file")
	if _, found, err := c.Transcript(sessionID); found || err == nil {
		t.Errorf("found %t, %v; want an error", found, err)
	}
}

func TestSpokenAfter(t *testing.T) {
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
		transcript := newConfig(t).putTranscript(t, c.text)
		if got, err := transcript.SpokenAfter(int64(c.offset)); got != c.want || err != nil {
			t.Errorf("%s: %t, %v; want %t", what, got, err, c.want)
		}
	}
}

func TestSpoken(t *testing.T) {
	t.Parallel()
	c := newConfig(t)
	if spoken, err := c.Spoken(sessionID); spoken || err != nil {
		t.Errorf("without a transcript: %t, %v", spoken, err)
	}
	c.putTranscript(t, metaLine)
	if spoken, err := c.Spoken(sessionID); spoken || err != nil {
		t.Errorf("with a stub: %t, %v", spoken, err)
	}
	c.putTranscript(t, metaLine, userLine)
	if spoken, err := c.Spoken(sessionID); !spoken || err != nil {
		t.Errorf("with a message: %t, %v", spoken, err)
	}
}

func TestStubIsSetAsideAndNotLost(t *testing.T) {
	t.Parallel()
	for what, text := range map[string]string{"a stub": metaLine, "an empty one": ""} {
		c := newConfig(t)
		if err := c.SetStubAside(sessionID); err != nil {
			t.Errorf("without any: %v", err)
		}
		stub := c.putTranscript(t, text)
		if err := c.SetStubAside(sessionID); err != nil {
			t.Fatal(err)
		}
		if _, found, err := c.Transcript(sessionID); found || err != nil {
			t.Errorf("%s is still found: %v", what, err)
		}
		if kept, err := os.ReadFile(stub.Path + ".unspoken"); string(kept) != text || err != nil {
			t.Errorf("%s is lost: %q, %v", what, kept, err)
		}
	}
}

func TestConversationIsNeverSetAside(t *testing.T) {
	t.Parallel()
	c := newConfig(t)
	before := c.putTranscript(t, metaLine, userLine)
	if err := c.SetStubAside(sessionID); err != nil {
		t.Fatal(err)
	}
	if after, found, err := c.Transcript(sessionID); !found || after != before || err != nil {
		t.Errorf("the conversation is %+v, %t, %v", after, found, err)
	}
}

func TestMentioned(t *testing.T) {
	t.Parallel()
	c := newConfig(t)
	if mentioned, err := c.Mentioned(sessionID); mentioned || err != nil {
		t.Errorf("without a history: %t, %v", mentioned, err)
	}
	line := func(id string) string { return `{"display":"hi","project":"/srv","sessionId":"` + id + `"}` + "\n" }
	c.put(t, "history.jsonl", line(string(otherID))+line(string(sessionID)+"0")+"in text: "+string(sessionID)+"\n")
	if mentioned, err := c.Mentioned(sessionID); mentioned || err != nil {
		t.Errorf("others only: %t, %v", mentioned, err)
	}
	c.put(t, "history.jsonl", line(string(otherID))+line(string(sessionID)))
	if mentioned, err := c.Mentioned(sessionID); !mentioned || err != nil {
		t.Errorf("named: %t, %v", mentioned, err)
	}
}

// What is looked for may lie across two pieces that are read.
func TestStreamContainsAcrossPieces(t *testing.T) {
	t.Parallel()
	const needle = "needle"
	for at := 1<<16 - len(needle) - 1; at <= 1<<16+1; at++ {
		for filler, want := range map[string]bool{needle: true, "needl-": false} {
			text := strings.Repeat("n", at) + filler + strings.Repeat("e", 1<<16)
			if got, err := streamContains(strings.NewReader(text), []byte(needle)); got != want || err != nil {
				t.Errorf("%s at %d: %t, %v", filler, at, got, err)
			}
		}
	}
	slow := iotest.OneByteReader(strings.NewReader("nneneeneedlle needle"))
	if got, err := streamContains(slow, []byte(needle)); !got || err != nil {
		t.Errorf("byte by byte: %t, %v", got, err)
	}
	broken := iotest.TimeoutReader(iotest.OneByteReader(strings.NewReader("xx")))
	if got, err := streamContains(broken, []byte(needle)); got || err == nil {
		t.Errorf("a read that fails: %t, %v; want the error", got, err)
	}
}
