package claude

import (
	"strings"
	"testing"
	"time"

	"nbs-worker/internal/agent"
)

const rateLimitLine = `{"isSidechain":false,"type":"assistant","isApiErrorMessage":true,"error":"rate_limit","timestamp":"2026-02-20T11:44:07.123Z",` +
	`"message":{"model":"<synthetic>","content":[{"type":"text","text":"API Error: Request rejected (429)"}]}}` + "\n"

// The error of the last turn, unless that turn went well.
func TestLastErrorOfATranscript(t *testing.T) {
	t.Parallel()
	limit := APIError{Class: "rate_limit", At: time.Date(2026, 2, 20, 11, 44, 7, 123e6, time.UTC), Text: "API Error: Request rejected (429)"}
	reply := replyLine("2.1.329", "claude-sonnet-5", 100)
	subagents := strings.ReplaceAll(rateLimitLine, `"isSidechain":false`, `"isSidechain":true`)
	for name, c := range map[string]struct {
		lines []string
		want  *APIError
	}{
		"none":                   {[]string{metaLine, userLine}, nil},
		"well":                   {[]string{userLine, reply}, nil},
		"failed":                 {[]string{userLine, reply, userLine, rateLimitLine}, &limit},
		"failed, asked again":    {[]string{userLine, rateLimitLine, userLine}, &limit},
		"failed, then well":      {[]string{userLine, rateLimitLine, userLine, reply}, nil},
		"a subagent's":           {[]string{userLine, reply, subagents}, nil},
		"without a class":        {[]string{userLine, errorLine}, &APIError{}},
		"cut short":              {[]string{userLine, rateLimitLine, reply[:len(reply)/2]}, &limit},
		"far from the end":       {[]string{userLine, rateLimitLine, strings.Repeat("x", apiErrorReach)}, nil},
		"other fields elsewhere": {[]string{rateLimitLine, `{"type":"system","error":{"status":529},"timestamp":17}` + "\n"}, &limit},
	} {
		transcript := newConfig(t).putTranscript(t, c.lines...)
		got, found, err := transcript.LastError()
		if err != nil || found != (c.want != nil) || found && got != *c.want {
			t.Errorf("%s: %+v, %t, %v; want %+v", name, got, found, err, c.want)
		}
	}
}

func TestTextOfAnErrorIsShort(t *testing.T) {
	t.Parallel()
	long := strings.Replace(rateLimitLine, "API Error", strings.Repeat("é", apiErrorText), 1)
	got, _, err := newConfig(t).putTranscript(t, long).LastError()
	if err != nil || len(got.Text) > apiErrorText+len("…") || !strings.HasSuffix(got.Text, "é…") {
		t.Errorf("%d bytes: %q, %v", len(got.Text), got.Text, err)
	}
}

func TestEndReasons(t *testing.T) {
	t.Parallel()
	for said, want := range map[string]string{
		"prompt_input_exit": "prompt_input_exit", "other": "other", "": "",
		"clear": "", "resume": "", "\x1b[2J": "", strings.Repeat("a", 65): "",
	} {
		if got := EndReason(&agent.End{Reason: said}); got != want {
			t.Errorf("%q: %q; want %q", said, got, want)
		}
	}
	if EndReason(nil) != "" {
		t.Error("nothing was said")
	}
}
