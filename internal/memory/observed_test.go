package memory_test

import (
	"testing"

	"nbs-worker/internal/memory"
	"nbs-worker/internal/sim/rig"
)

const observer = "0b0c2a53-0d0c-4b43-9e0a-2f6b8f5c9a11"

// An observer's conversation is continued only from its second prompt in one process, with an id that a
// conversation has.
func TestShouldResume(t *testing.T) {
	t.Parallel()
	captured := memory.Observed{MemoryID: observer}
	for what, c := range map[string]struct {
		observed memory.Observed
		prompt   int
		forced   bool
		want     bool
	}{
		"the first prompt with an id of an earlier run": {captured, 1, false, false},
		"no prompt counted":                             {captured, 0, false, false},
		"the second prompt":                             {captured, 2, false, true},
		"a later one":                                   {captured, 17, false, true},
		"the second prompt without an id":               {memory.Observed{}, 2, false, false},
		"a fresh start is forced":                       {captured, 2, true, false},
		"an id that we made up":                         {memory.Observed{MemoryID: observer, Synthesized: true}, 2, false, false},
	} {
		rig.Equal(t, memory.ShouldResume(c.observed, c.prompt, c.forced), c.want, "%s: ShouldResume", what)
	}
}
