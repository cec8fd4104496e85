package claude

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/claude/cmdline"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/sim/rig"
)

// Claude refuses --resume of what has no message, and --session-id of what has a
// transcript. What was there once and is gone is never replaced in silence.
func TestOpen(t *testing.T) {
	t.Parallel()
	const none, empty, stub, side, spoken = "-", "", metaLine, metaLine + sidechainLine, metaLine + userLine
	for what, c := range map[string]struct {
		transcript      string
		seen, mentioned bool
		want            cmdline.Opening // "": not found
	}{
		"never written":                {none, false, false, cmdline.OpenNew},
		"seen, and gone":               {none, true, false, ""},
		"in the history, and gone":     {none, false, true, ""},
		"seen and in history, gone":    {none, true, true, ""},
		"spoken":                       {spoken, false, false, cmdline.OpenResume},
		"spoken and seen":              {spoken, true, true, cmdline.OpenResume},
		"spoken, of another's history": {spoken, false, true, cmdline.OpenResume},
		"a stub":                       {stub, false, false, cmdline.OpenNew},
		"a stub, prompted":             {stub, false, true, cmdline.OpenNew},
		"a stub that was a talk":       {stub, true, false, ""},
		"a sidechain's words alone":    {side, false, false, cmdline.OpenNew},
		"0 bytes":                      {empty, false, false, cmdline.OpenNew},
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
			record := agent.Record{Spec: agent.Spec{Handle: "alice", SessionID: sessionID}}
			if c.seen {
				record.TranscriptSeen = someTime()
			}
			config.wantOpening(t, &record, c.want)
		})
	}
}

// Claude notes a prompt in its history a moment before it writes the transcript. Killed in
// between, it leaves a mention of what never was; the folders of transcripts tell.
func TestOpenAfterAKillBetweenHistoryAndTranscript(t *testing.T) {
	t.Parallel()
	const soon = 3 * clockGrain / 2
	for what, c := range map[string]struct {
		history string
		mention time.Duration   // after the last change of a folder of transcripts
		start   string          // the folder of the start; "": this one
		want    cmdline.Opening // "": not found
	}{
		"no folder was changed since":     {`"timestamp":%d`, soon, "", cmdline.OpenNew},
		"one was":                         {`"timestamp":%d`, -time.Second, "", ""},
		"one was, or a moment before":     {`"timestamp":%d`, 5 * time.Millisecond, "", ""},
		"a history that does not say":     {`"display":"%d"`, soon, "", ""},
		"a history that cannot be parsed": {`"timestamp":%d,,`, soon, "", ""},
		"a clock that was set back":       {`"timestamp":%d`, time.Hour, "", ""},
		"a disk that is not mounted now":  {`"timestamp":%d`, soon, "1:2", ""},
		"a start that noted no folder":    {`"timestamp":%d`, soon, "none", ""},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			config := newConfig(t)
			folder := filepath.Dir(config.put(t, "projects/-srv-project/"+string(otherID)+".jsonl", userLine))
			// A backup was restored, with the times of its files.
			rig.Must(t, os.Chtimes(folder, time.Now(), someTime()))
			changed, err := changeTime(folder)
			rig.Must(t, err)
			mention := changed.Add(c.mention)
			if c.mention < time.Second {
				rig.Eventually(t, "the mention is past", func() bool { return time.Now().After(mention.Add(clockGrain)) })
			}
			config.putMention(t, c.history, mention)
			start := cmp.Or(c.start, config.TranscriptFolder())
			config.wantOpenSince(t, strings.TrimPrefix(start, "none"), c.want)
		})
	}
}

// All transcripts were deleted together with their folders.
func TestOpenWithoutAnyFolderOfTranscripts(t *testing.T) {
	t.Parallel()
	config := newConfig(t)
	config.putMention(t, `"timestamp":%d`, time.Now().Add(time.Hour))
	config.wantOpenSince(t, config.TranscriptFolder(), "")
}

// putMention writes a history with one prompt in the conversation.
func (c Config) putMention(t *testing.T, field string, at time.Time) {
	t.Helper()
	c.put(t, "history.jsonl", fmt.Sprintf(`{`+field+`,"sessionId":"`+string(sessionID)+`"}`+"\n", at.UnixMilli()))
}

// wantOpenSince opens the conversation of a start whose end nobody saw, with the folder of
// transcripts that it noted. "" is not found.
func (c Config) wantOpenSince(t *testing.T, folder string, want cmdline.Opening) {
	t.Helper()
	record := agent.Record{Spec: agent.Spec{Handle: "alice", SessionID: sessionID}, Process: &agent.Process{Invocation: "i", Transcripts: folder}}
	c.wantOpening(t, &record, want)
}

// wantOpening checks how a conversation would be opened; "" is that it is lost.
func (c Config) wantOpening(t *testing.T, record *agent.Record, want cmdline.Opening) {
	t.Helper()
	got, err := c.Open(record)
	if want == "" {
		wantLost(t, err)
	} else if err != nil {
		t.Error(err)
	}
	rig.Check(t, got == want, "Open = %q; want %q", got, want)
}

// wantLost checks that an error names the conversation and both ways out.
func wantLost(t *testing.T, err error) {
	t.Helper()
	wantKind(t, "gone", err, fail.NotFound)
	if err == nil {
		return
	}
	rig.Check(t, strings.Contains(err.Error(), string(sessionID)), "%v; want the conversation", err)
	hints := strings.Join(fail.HintsOf(err), "\n")
	for _, want := range []string{"backup", "nbs-worker resume alice --fresh"} {
		rig.Check(t, strings.Contains(hints, want), "the hints do not say %q: %s", want, hints)
	}
}

func TestOpenDoesNotGuessWhenAQuestionFails(t *testing.T) {
	t.Parallel()
	record := agent.Record{Spec: agent.Spec{Handle: "alice", SessionID: sessionID}}
	c := newConfig(t)
	c.put(t, "projects", "a file")
	if got, err := c.Open(&record); got != "" || err == nil || fail.KindOf(err) == fail.NotFound {
		t.Errorf("projects cannot be read: %q, %v; want an error that is no loss", got, err)
	}
	c = newConfig(t)
	c.put(t, "history.jsonl/x", "a folder")
	got, err := c.Open(&record)
	rig.Check(t, got == "" && err != nil && fail.KindOf(err) != fail.NotFound, "the history cannot be read: %q, %v; want an error that is no loss", got, err)
}
