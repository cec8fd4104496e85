package agents

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"nbs-worker/internal/app/cli/ui"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/platform/machine/local"
	"nbs-worker/internal/team/caller"
)

// A list that was interrupted is not one of which a part failed.
func TestInterruptedListSaysSo(t *testing.T) {
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, ".nbs", "sessions"), 0o700); err != nil {
		t.Fatal(err)
	}
	var out, complaint strings.Builder
	f := &ui.Factory{Machine: local.New(), Streams: ui.Streams{Out: &out, Err: &complaint}, Verb: "list", Root: dir, Powers: map[string]caller.Rule{"list": {Right: caller.Anyone}}}
	defer f.Close()
	ctx, interrupt := context.WithCancel(t.Context())
	interrupt()
	err := runList(ctx, f, &listOptions{})
	if code, ok := errors.AsType[ui.ExitError](err); !ok || code != ui.ExitError(fail.Interrupted) || out.Len() > 0 {
		t.Errorf("%v, printed %q and %q", err, &out, &complaint)
	}
}
