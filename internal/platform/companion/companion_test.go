package companion

import (
	"context"
	"io"
	"os/exec"
	"testing"
	"time"

	"nbs-worker/internal/sim/rig"
)

// A child that does not end when it is told to does not keep its caller, which may have just ended an agent.
func TestAChildThatHangs(t *testing.T) {
	t.Parallel()
	ctx, end := context.WithCancel(t.Context())
	child := exec.CommandContext(ctx, "sh", "-c", "trap '' TERM; echo begun; while :; do sleep 1; done")
	begun, out := io.Pipe()
	child.Stdout = out
	go func() { _, _ = begun.Read(make([]byte, 1)); end(); _, _ = io.Copy(io.Discard, begun) }()
	_, err := run(child, time.Millisecond)
	rig.Check(t, err != nil, "a child that was killed has ended by itself")
	rig.Must(t, out.Close())
}
