package conversations

import (
	"testing"

	"nbs-worker/internal/sim/rig"
)

// BenchmarkTurn is what a turn costs besides its running: accepted, begun and finished.
func BenchmarkTurn(b *testing.B) {
	d, _ := in(b, b.TempDir()) // on a disk
	c := d.Of(chat)
	for seq := 1; b.Loop(); seq++ {
		mustEnqueue(b, c, asked("", "What number?"))
		rig.Must(b, c.Begin(b.Context(), start(seq)))
		rig.Must(b, c.Finish(b.Context(), answered(seq, "42.")))
	}
}
