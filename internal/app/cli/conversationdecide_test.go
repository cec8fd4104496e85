package cli

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"nbs-worker/internal/app/cli/ui"
	"nbs-worker/internal/app/cli/ui/uitest"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/sim/rig"
	"nbs-worker/internal/store"
)

// A turn that is being answered is waited for, until Ctrl-C.
func TestWaitForATurnThatIsInterrupted(t *testing.T) {
	t.Parallel()
	project, file := newProject(t), filepath.Join(t.TempDir(), "id")
	rig.Must(t, os.WriteFile(file, []byte(uitest.SessionID), 0o600))
	run("--root", project, "conversation", "import", file, "--key", "review").want(t, 0)
	s, err := store.Open(project)
	rig.Must(t, err)
	t.Cleanup(func() { _ = s.Close() })
	unlock, err := s.Conversations().Of("review").TryTurn()
	rig.Must(t, err)
	defer unlock()
	ctx, interrupt := context.WithCancel(t.Context())
	interrupt()
	for _, line := range []string{"reset review", "restore review 4f0c"} {
		var said strings.Builder
		code := execute(ctx, append([]string{"--root", project, "conversation"}, strings.Fields(line)...), ui.Streams{Err: &said})
		verb, _, _ := strings.Cut(line, " ")
		want := "nbs-worker: conversation " + verb + " review: interrupted\n"
		rig.Check(t, code == int(fail.Interrupted) && said.String() == want, "%s: exit code %d: %s", line, code, said.String())
	}
}
