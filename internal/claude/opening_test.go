package claude

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"nbs-worker/internal/agent"
)

// Claude refuses --resume of what has no message, and --session-id of what has a
// transcript. What was there once and is gone is never replaced in silence.
func TestOpen(t *testing.T) {
	t.Parallel()
	const none, empty, stub, side, spoken = "-", "", metaLine, metaLine + sidechainLine, metaLine + userLine
	for what, c := range map[string]struct {
		transcript      string
		seen, mentioned bool
		want            Opening // "": not found
	}{
		"never written":                {none, false, false, OpenNew},
		"seen, and gone":               {none, true, false, ""},
		"in the history, and gone":     {none, false, true, ""},
		"seen and in history, gone":    {none, true, true, ""},
		"spoken":                       {spoken, false, false, OpenResume},
		"spoken and seen":              {spoken, true, true, OpenResume},
		"spoken, of another's history": {spoken, false, true, OpenResume},
		"a stub":                       {stub, false, false, OpenNew},
		"a stub, prompted":             {stub, false, true, OpenNew},
		"a stub that was a talk":       {stub, true, false, ""},
		"a sidechain's words alone":    {side, false, false, OpenNew},
		"0 bytes":                      {empty, false, false, OpenNew},
		"0 bytes that were a talk":     {empty, true, true, ""},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			config := newConfig(t)
			if c.transcript != none {
				config.putTranscript(t, c.transcript)
			}
			if c.mentioned {
				config.put(t, "history.jsonl", `{"sessionId":"`+string(sessionID)+`"}`+"\n")
			}
			record := agent.Record{Handle: "alice", SessionID: sessionID}
			if c.seen {
				record.TranscriptSeen = someTime()
			}
			config.wantOpening(t, &record, c.want)
		})
	}
}

// Claude notes a prompt in its history a moment before it writes the transcript.
func TestOpenAfterAKillBetweenHistoryAndTranscript(t *testing.T) {
	t.Parallel()
	const minutes, days = 300, 40 * 24 * 3600 // in seconds
	for what, c := range map[string]struct {
		exit agent.Exit
		want Opening // "": not found
	}{
		"its launcher saw no transcript":       {agent.Exit{Invocation: "i", Code: -1, UptimeS: minutes, Unspoken: true}, OpenNew},
		"after days, it may have been deleted": {agent.Exit{Invocation: "i", Code: -1, UptimeS: days, Unspoken: true}, ""},
		"claude was not started":               {agent.Exit{Invocation: "i", Error: "no claude"}, ""},
		"its launcher could not look":          {agent.Exit{Invocation: "i", Code: -1, UptimeS: minutes}, ""},
		"the exit of an earlier start":         {agent.Exit{Invocation: "h", Code: -1, Unspoken: true}, ""},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			config := newConfig(t)
			config.put(t, "history.jsonl", `{"sessionId":"`+string(sessionID)+`"}`+"\n")
			record := agent.Record{Handle: "alice", SessionID: sessionID, Process: &agent.Process{Invocation: "i"}, Exits: []agent.Exit{c.exit}}
			config.wantOpening(t, &record, c.want)
		})
	}
}

// Where nobody saw the end, the folders of transcripts tell whether there ever was one.
func TestOpenAfterAKillOfAllBetweenHistoryAndTranscript(t *testing.T) {
	t.Parallel()
	for what, c := range map[string]struct {
		history string
		changed time.Duration // when a folder of transcripts was changed, after the prompt
		want    Opening       // "": not found
	}{
		"no folder was changed since":     {`"timestamp":%d`, -time.Second, OpenNew},
		"one was":                         {`"timestamp":%d`, time.Second, ""},
		"one was, or a moment before":     {`"timestamp":%d`, -5 * time.Millisecond, ""},
		"a history that does not say":     {`"display":"%d"`, -time.Second, ""},
		"a history that cannot be parsed": {`"timestamp":%d,,`, -time.Second, ""},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			config := newConfig(t)
			folder := filepath.Dir(config.put(t, "projects/-srv-project/"+string(otherID)+".jsonl", userLine))
			// A backup was restored, with the times of its files.
			if err := os.Chtimes(folder, time.Now(), someTime()); err != nil {
				t.Fatal(err)
			}
			changed, err := changeTime(folder)
			if err != nil {
				t.Fatal(err)
			}
			config.putMention(t, c.history, changed.Add(-c.changed))
			config.wantOpen(t, c.want)
		})
	}
}

// All transcripts were deleted together with their folders.
func TestOpenWithoutAnyFolderOfTranscripts(t *testing.T) {
	t.Parallel()
	config := newConfig(t)
	config.putMention(t, `"timestamp":%d`, time.Now().Add(time.Hour))
	config.wantOpen(t, "")
}

// putMention writes a history with one prompt in the conversation.
func (c Config) putMention(t *testing.T, field string, at time.Time) {
	t.Helper()
	c.put(t, "history.jsonl", fmt.Sprintf(`{`+field+`,"sessionId":"`+string(sessionID)+`"}`+"\n", at.UnixMilli()))
}

// wantOpen opens the conversation of a start whose end nobody saw. "" is not found.
func (c Config) wantOpen(t *testing.T, want Opening) {
	t.Helper()
	record := agent.Record{Handle: "alice", SessionID: sessionID, Process: &agent.Process{Invocation: "i"}}
	got, err := c.Open(&record)
	if want == "" {
		wantLost(t, err)
	} else if err != nil {
		t.Error(err)
	}
	if got != want {
		t.Errorf("Open = %q; want %q", got, want)
	}
}

// wantOpening checks how a conversation would be opened; "" is that it is lost.
func (c Config) wantOpening(t *testing.T, record *agent.Record, want Opening) {
	t.Helper()
	got, err := c.Open(record)
	if want == "" {
		wantLost(t, err)
	} else if err != nil {
		t.Error(err)
	}
	if got != want {
		t.Errorf("Open = %q; want %q", got, want)
	}
}

// wantLost checks that an error names the conversation and both ways out.
func wantLost(t *testing.T, err error) {
	t.Helper()
	wantKind(t, "gone", err, agent.NotFound)
	if err == nil {
		return
	}
	if !strings.Contains(err.Error(), string(sessionID)) {
		t.Errorf("%v; want the conversation", err)
	}
	hints := strings.Join(agent.HintsOf(err), "\n")
	for _, want := range []string{"backup", "nbs-worker resume alice --fresh"} {
		if !strings.Contains(hints, want) {
			t.Errorf("the hints do not say %q: %s", want, hints)
		}
	}
}

func TestOpenDoesNotGuessWhenAQuestionFails(t *testing.T) {
	t.Parallel()
	record := agent.Record{Handle: "alice", SessionID: sessionID}
	c := newConfig(t)
	c.put(t, "projects", "a file")
	if got, err := c.Open(&record); got != "" || err == nil || agent.KindOf(err) == agent.NotFound {
		t.Errorf("projects cannot be read: %q, %v; want an error that is no loss", got, err)
	}
	c = newConfig(t)
	c.put(t, "history.jsonl/x", "a folder")
	if got, err := c.Open(&record); got != "" || err == nil || agent.KindOf(err) == agent.NotFound {
		t.Errorf("the history cannot be read: %q, %v; want an error that is no loss", got, err)
	}
}

func TestOpeningWord(t *testing.T) {
	t.Parallel()
	if OpenNew.Word() != "new" || OpenResume.Word() != "resumed" {
		t.Errorf("the words are %s and %s", OpenNew.Word(), OpenResume.Word())
	}
}
