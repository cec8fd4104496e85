package claude

import (
	"strings"
	"testing"

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
			got, err := config.Open(&record)
			if c.want == "" {
				wantLost(t, err)
			} else if err != nil {
				t.Error(err)
			}
			if got != c.want {
				t.Errorf("Open = %q; want %q", got, c.want)
			}
		})
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
