package jsonl

import (
	"slices"
	"strings"
	"testing"

	"nbs-worker/internal/sim/rig"
)

// Lines are found from the end as they are from the beginning, whatever their lengths.
func TestLinesAreTheSameFromBothEnds(t *testing.T) {
	t.Parallel()
	var text strings.Builder
	for i, length := range []int{0, 1, pieceSize - 1, pieceSize, pieceSize + 1, 0, 3*pieceSize + 7, pieceSize - 2, 5} {
		text.WriteString(strings.Repeat(string(rune('a'+i)), length) + "\n")
	}
	file := strings.NewReader(text.String())
	var want, got []Span
	for lines := ForwardFrom(file, 0); ; {
		line, err := lines.Next()
		if err != nil {
			break
		}
		want = append(want, line)
	}
	for lines := BackwardFrom(file, file.Size()); ; {
		line, err := lines.Next()
		if err != nil {
			break
		}
		got = append(got, line)
	}
	slices.Reverse(got)
	rig.Check(t, slices.Equal(got, want) && len(want) == 9, "backward %v; forward %v", got, want)
}
