package local

import (
	"maps"
	"testing"

	"nbs-worker/internal/sim/rig"
)

func TestParseLocks(t *testing.T) {
	t.Parallel()
	got := parseLocks("1: FLOCK  ADVISORY  WRITE 1234 fd:01:5678 0 EOF\n1: -> FLOCK  ADVISORY  WRITE 99 fd:01:5678 0 EOF\n2: POSIX  ADVISORY  WRITE 5 fd:01:9 0 EOF\nnoise\n")
	want := map[string]int{"fd:01:5678": 1234}
	rig.Check(t, maps.Equal(got, want), "%v", got)
}
