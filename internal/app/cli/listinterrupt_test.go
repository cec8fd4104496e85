package cli

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"nbs-worker/internal/fail"
	"nbs-worker/internal/platform/machine/local"
)

// A list that was interrupted is not one of which a part failed.
func TestInterruptedListSaysSo(t *testing.T) {
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, ".nbs", "sessions"), 0o700); err != nil {
		t.Fatal(err)
	}
	var out, complaint strings.Builder
	f := &factory{machine: local.New(), streams: Streams{Out: &out, Err: &complaint}, verb: "list", root: dir}
	defer f.close()
	ctx, interrupt := context.WithCancel(t.Context())
	interrupt()
	err := runList(ctx, f, &listOptions{})
	if code, ok := errors.AsType[exitError](err); !ok || code != exitError(fail.Interrupted) || out.Len() > 0 {
		t.Errorf("%v, printed %q and %q", err, &out, &complaint)
	}
}
