package transcript

import (
	"strings"
	"testing"
	"time"

	"nbs-worker/internal/agent"
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
		"failed, then compacted": {[]string{userLine, rateLimitLine, compactLine}, true, nil},
		"compacted, then failed": {[]string{compactLine, userLine, rateLimitLine}, true, limit},
		"a subagent's":           {[]string{userLine, reply, subagents}, true, nil},
		"without a class":        {[]string{userLine, errorLine}, true, &APIError{Class: "unknown"}},
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
	long := strings.Replace(rateLimitLine, "API Error", strings.Repeat("é", agent.FailureText), 1)
	got, err := put(t, long).LastTurn()
	rig.Check(t, err == nil && len(got.Error.Text) <= agent.FailureText+len("…") && strings.HasSuffix(got.Error.Text, "é…"), "%+v, %v", got.Error, err)
}

func TestHasMessagesAfter(t *testing.T) {
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
		transcript := put(t, c.text)
		rig.Gives(t, c.want, "%s", what)(transcript.HasMessagesAfter(int64(c.offset)))
	}
}
