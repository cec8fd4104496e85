package transcript

import (
	"testing"

	"nbs-worker/internal/sim/rig"
)

func TestTurnEnd(t *testing.T) {
	t.Parallel()
	const words = `{"type":"assistant","uuid":"a1","message":{"content":[{"type":"text","text":"so far"}],"stop_reason":null}}`
	const escaped = `{"type":"user","uuid":"u2","message":{"role":"user","content":[{"type":"text","text":"[Request interrupted by user for tool use]"}]}}`
	const over = `{"type":"system","uuid":"s1","subtype":"turn_duration"}`
	for what, c := range map[string]struct {
		lines []string
		want  TurnEnd
	}{
		"nothing yet":                 {nil, NotEnded},
		"it goes on":                  {[]string{words}, NotEnded},
		"interrupted":                 {[]string{words, escaped}, Interrupted},
		"interrupted, then the next":  {[]string{escaped, words, over}, Interrupted},
		"ended by itself":             {[]string{words, over}, Ended},
		"ended with an error":         {[]string{`{"type":"assistant","isApiErrorMessage":true,"message":{"content":[{"type":"text","text":"API Error"}]}}`}, Ended},
		"of a subagent":               {[]string{`{"type":"assistant","isSidechain":true,"message":{"stop_reason":"end_turn"}}`}, NotEnded},
		"a person who writes so":      {[]string{`{"type":"user","message":{"content":"what is [Request interrupted by user]?"}}`}, NotEnded},
		"what a tool has answered so": {[]string{`{"type":"user","message":{"content":[{"type":"tool_result","content":"[Request interrupted by user]"}]}}`}, NotEnded},
	} {
		file, after := written(t, c.lines...)
		got, err := file.TurnEnd(after)
		rig.Check(t, err == nil && got == c.want, "%s: %d, %v; want %d", what, got, err, c.want)
	}
}

func TestCompactionEnds(t *testing.T) {
	t.Parallel()
	const given = `{"type":"user","uuid":"u1","message":{"role":"user","content":"<command-name>/compact</command-name>\n<command-message>compact</command-message>\n<command-args>Keep it.</command-args>"}}`
	refused := func(parent, stream, words string) string {
		return `{"type":"system","subtype":"local_command","parentUuid":"` + parent + `","content":"<local-command-` + stream + `>` + words + `</local-command-` + stream + `>"}`
	}
	for what, c := range map[string]struct {
		lines []string
		want  Compaction
	}{
		"nothing yet":                      {nil, Compaction{}},
		"not over":                         {[]string{given}, Compaction{}},
		"compacted":                        {[]string{`{"type":"system","subtype":"compact_boundary","compactMetadata":{"trigger":"manual","preTokens":500,"postTokens":20}}`, given}, Compaction{Ended: true, Before: 500, After: 20}},
		"of a version that does not count": {[]string{`{"type":"system","subtype":"compact_boundary"}`}, Compaction{Ended: true}},
		"refused":                          {[]string{given, refused("u1", "stdout", "Not enough messages to compact.")}, Compaction{Ended: true, Refusal: "Not enough messages to compact."}},
		"an error":                         {[]string{given, refused("u1", "stderr", "Error: 529")}, Compaction{Ended: true, Refusal: "Error: 529"}},
		"of another command":               {[]string{given, refused("u9", "stdout", "Cost: 1")}, Compaction{}},
		"of none":                          {[]string{refused("", "stdout", "Cost: 1")}, Compaction{}},
	} {
		file, after := written(t, c.lines...)
		got, err := file.Compaction(after)
		rig.Check(t, err == nil && got == c.want, "%s: %+v, %v; want %+v", what, got, err, c.want)
	}
}
