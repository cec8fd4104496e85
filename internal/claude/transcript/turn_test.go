package transcript

import (
	"strings"
	"testing"
	"time"

	"nbs-worker/internal/sim/rig"

	"github.com/google/go-cmp/cmp"
)

const rateLimitLine = `{"isSidechain":false,"type":"assistant","isApiErrorMessage":true,"error":"rate_limit","timestamp":"2026-02-20T11:44:07.123Z",` +
	`"message":{"model":"<synthetic>","content":[{"type":"text","text":"API Error: Request rejected (429)"}]}}` + "\n"

// How the last turn ended: with a reply, or with an error of the API.
func TestLastTurnOfATranscript(t *testing.T) {
	t.Parallel()
	limit := &APIError{Class: "rate_limit", Text: "API Error: Request rejected (429)"}
	reply := replyLine("2.1.329", "claude-sonnet-5", 100)
	subagents := strings.ReplaceAll(rateLimitLine, `"isSidechain":false`, `"isSidechain":true`)
	for name, c := range map[string]struct {
		lines []string
		ended bool
		want  *APIError
	}{
		"none":                   {[]string{metaLine, userLine}, false, nil},
		"well":                   {[]string{userLine, reply}, true, nil},
		"failed":                 {[]string{userLine, reply, userLine, rateLimitLine}, true, limit},
		"failed, asked again":    {[]string{userLine, rateLimitLine, userLine}, true, limit},
		"failed, then well":      {[]string{userLine, rateLimitLine, userLine, reply}, true, nil},
		"a subagent's":           {[]string{userLine, reply, subagents}, true, nil},
		"without a class":        {[]string{userLine, errorLine}, true, &APIError{}},
		"cut short":              {[]string{userLine, rateLimitLine, reply[:len(reply)/2]}, true, limit},
		"far from the end":       {[]string{userLine, rateLimitLine, strings.Repeat("x", apiErrorReach)}, false, nil},
		"other fields elsewhere": {[]string{rateLimitLine, `{"type":"system","error":{"status":529},"timestamp":17}` + "\n"}, true, limit},
	} {
		transcript := put(t, c.lines...)
		got, err := transcript.LastTurn()
		diff := cmp.Diff(c.want, got.Error)
		rig.Check(t, err == nil && got.Ended == c.ended && diff == "", "%s: ended %t, %v, -want +got:\n%s", name, got.Ended, err, diff)
		at := time.Date(2026, 2, 20, 11, 44, 7, 123e6, time.UTC)
		rig.Check(t, c.want != limit || got.At.Equal(at), "%s: at %s", name, got.At)
	}
}

func TestTextOfAnErrorIsShort(t *testing.T) {
	t.Parallel()
	long := strings.Replace(rateLimitLine, "API Error", strings.Repeat("é", apiErrorText), 1)
	got, err := put(t, long).LastTurn()
	rig.Check(t, err == nil && len(got.Error.Text) <= apiErrorText+len("…") && strings.HasSuffix(got.Error.Text, "é…"), "%+v, %v", got.Error, err)
}
