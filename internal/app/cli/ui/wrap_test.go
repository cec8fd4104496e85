package ui

import (
	"strings"
	"testing"

	"nbs-worker/internal/sim/rig"
)

func TestWrapped(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text  string
		width int
		want  string
	}{
		{"one two three", 8, "one two|three"},
		{"/a/bcd/efgh", 8, "/a/bcd/|efgh"},
		{"abcdefghij", 4, "abcd|efgh|ij"},
		{"a  b", 10, "a  b"},
		{"", 10, ""},
	} {
		rig.Equal(t, strings.Join(wrapped(c.text, c.width), "|"), c.want, "%q in %d", c.text, c.width)
	}
}
