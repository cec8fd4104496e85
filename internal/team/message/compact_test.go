package message

import (
	"strings"
	"testing"

	"nbs-worker/internal/claude/transcript"
	"nbs-worker/internal/fail"

	"nbs-worker/internal/sim/rig"
)

func TestCompactionIsJudged(t *testing.T) {
	t.Parallel()
	for what, c := range map[string]struct {
		end    transcript.Compaction
		window int
		says   string // "": it helped
		floor  bool
		levels string
	}{
		"it helped":                   {transcript.Compaction{Before: 150_000, After: 15_000}, 200_000, "", false, "from 150000 tokens (75%) to 15000 tokens (8%)"},
		"a tenth":                     {transcript.Compaction{Before: 150_000, After: 135_000}, 200_000, "", false, "from 150000 tokens (75%) to 135000 tokens (68%)"},
		"less than a tenth":           {transcript.Compaction{Before: 150_000, After: 135_001}, 200_000, "compaction floor: it freed less than a tenth, from 150000", true, "from 150000 tokens (75%) to 135001 tokens (68%)"},
		"more than before":            {transcript.Compaction{Before: 1000, After: 2000}, 200_000, "compaction floor", true, "from 1000 tokens (1%) to 2000 tokens (1%)"},
		"what is left is not said":    {transcript.Compaction{Before: 150_000}, 200_000, "", false, "from 150000 tokens (75%) to an unknown level"},
		"the window is not known":     {transcript.Compaction{Before: 150_000, After: 140_000}, 0, "", false, "from an unknown level to an unknown level"},
		"too little to compact":       {transcript.Compaction{Refusal: "Not enough messages to compact."}, 200_000, "compaction floor: Claude did not compact", true, ""},
		"no room to compact it in":    {transcript.Compaction{Refusal: "Compaction failed · conversation could not be reduced below the context limit"}, 0, "compaction floor", true, ""},
		"an API that refuses to help": {transcript.Compaction{Refusal: "Error during compaction: API Error: 529"}, 200_000, `did not compact: "Error during`, false, ""},
	} {
		done := Compaction{Handle: "a", window: c.window}
		err := done.judge(c.end)
		if (err == nil) != (c.says == "") || err != nil && (fail.KindOf(err) != fail.Failed || !strings.Contains(err.Error(), c.says)) || done.Floor != c.floor {
			t.Errorf("%s: %v, %+v", what, err, done)
		}
		rig.Check(t, c.levels == "" || done.String() == c.levels, "%s: %s; want %s", what, done.String(), c.levels)
	}
}
