package companion

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"nbs-worker/internal/sim/rig"
)

// A child that does not end when it is told to does not keep its caller, which may have just ended an agent.
func TestAChildThatHangs(t *testing.T) {
	t.Parallel()
	this, err := os.Executable()
	rig.Must(t, err)
	script := "#!/bin/sh\ntrap '' TERM\necho begun\nwhile :; do sleep 1; done\n"
	rig.Must(t, os.WriteFile(filepath.Join(filepath.Dir(this), services), []byte(script), 0o700))
	ctx, end := context.WithCancel(t.Context())
	begun, out := io.Pipe()
	go func() { _, _ = begun.Read(make([]byte, 1)); end(); _, _ = io.Copy(io.Discard, begun) }()
	_, err = Run(ctx, nil, strings.NewReader(""), out, io.Discard)
	rig.Check(t, err != nil, "a child that was killed has ended by itself")
	rig.Must(t, out.Close())
}
