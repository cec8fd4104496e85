package inspect

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/claude/transcript"

	"nbs-worker/internal/sim/rig"
)

// A look may come after the hook has reported a failure, and before the transcript has it.
func TestFailureCountsBeforeTheTranscriptHasIt(t *testing.T) {
	t.Parallel()
	at := func(s int) time.Time { return time.Date(2026, 2, 20, 11, 44, s, 0, time.UTC) }
	line := func(s int, model, rest, text string) string {
		return fmt.Sprintf(`{"type":"assistant","timestamp":%q,"message":{"role":"assistant","model":%q,"content":[{"type":"text","text":%q}]}%s}`+"\n",
			at(s).Format(time.RFC3339), model, text, rest)
	}
	reply := func(s int) string { return line(s, "claude-sonnet-4-5", "", "Done.") }
	failed := func(s int) string {
		return line(s, "<synthetic>", `,"isApiErrorMessage":true,"error":"server_error"`, "API Error: 529")
	}
	const limit, overload = "You've hit your limit", "API Error: 529"
	told := &agent.Failure{Class: "rate_limit", Text: limit, At: at(5)}
	for what, c := range map[string]struct {
		told  *agent.Failure
		done  time.Time
		lines string
		want  *LastError
	}{
		"nothing":                      {nil, time.Time{}, "", nil},
		"told alone":                   {told, time.Time{}, "", &LastError{"rate_limit", at(5), limit}},
		"not written yet":              {told, time.Time{}, reply(4), &LastError{"rate_limit", at(5), limit}},
		"the one before failed too":    {told, time.Time{}, failed(4), &LastError{"rate_limit", at(5), limit}},
		"no words were told":           {&agent.Failure{Class: "rate_limit", At: at(5)}, time.Time{}, failed(4), &LastError{"rate_limit", at(5), overload}},
		"written later":                {&agent.Failure{Class: "rate_limit", Text: overload, At: at(5)}, time.Time{}, reply(4) + failed(6), &LastError{"rate_limit", at(6), overload}},
		"told of an earlier turn":      {told, time.Time{}, reply(4) + failed(6), &LastError{"server_error", at(6), overload}},
		"a turn that went well since":  {told, time.Time{}, failed(6) + reply(7), nil},
		"written, and no hook told it": {nil, time.Time{}, failed(6), &LastError{"server_error", at(6), overload}},
		"one went well since":          {nil, at(7), failed(6), nil},
		"one went well before":         {nil, at(5), failed(6), &LastError{"server_error", at(6), overload}},
	} {
		path := filepath.Join(t.TempDir(), "t.jsonl")
		rig.Must(t, os.WriteFile(path, []byte(c.lines), 0o600))
		got := lastError(agent.Report{Failure: c.told, Done: c.done}, &transcript.File{Path: path, Size: int64(len(c.lines))})
		if (got == nil) != (c.want == nil) || got != nil && *got != *c.want {
			t.Errorf("%s: %+v; want %+v", what, got, c.want)
		}
	}
	got := lastError(agent.Report{Failure: told}, nil)
	rig.Check(t, got != nil && got.Class == "rate_limit", "without a transcript: %+v", got)
}
