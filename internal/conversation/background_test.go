package conversation

import (
	"strings"
	"testing"

	"nbs-worker/internal/sim/rig"
)

// Of a long context the beginning is kept, whatever it is written in, and nothing after the gap.
func TestTheBeginningOfALongContextIsKept(t *testing.T) {
	t.Parallel()
	text := strings.Repeat("三", contextLimit)
	out := &limited{}
	for _, part := range []string{text, "after the gap"} {
		n, err := out.Write([]byte(part))
		rig.Check(t, n == len(part) && err == nil, "%d of %d bytes were taken, %v", n, len(part), err)
	}
	kept := strings.ToValidUTF8(out.text.String(), "")
	rig.Check(t, out.cut && len(kept) > contextLimit-len("三") && strings.HasPrefix(text, kept), "%d bytes are kept: %.20q...", len(kept), kept)
}
