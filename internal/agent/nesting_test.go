package agent

import (
	"testing"

	"nbs-worker/internal/sim/rig"
)

func TestNesting(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int{
		"": 0, "1": 0, "{}": 1, `{"a":[{}],"b":[]}`: 3, `{"[[[[":"]]{{\"[["}`: 1, `["\\",[]]`: 2, "]]]]": 0, `"[[`: 0,
	} {
		rig.Equal(t, nesting([]byte(text)), want, "nesting(%s)", text)
	}
}
