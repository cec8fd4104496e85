package git

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"nbs-worker/internal/fail"
	"nbs-worker/internal/sim/rig"
)

func TestMain(m *testing.M) { os.Exit(rig.Tight(m)) }

// gitOf puts a script in the place of git, and returns its folder.
func gitOf(t *testing.T, script string) string {
	t.Helper()
	dir := t.TempDir()
	rig.WriteProgram(t, filepath.Join(dir, "git"), "#!/bin/sh\n"+script+"\n")
	t.Setenv("PATH", dir+":/usr/bin:/bin")
	return dir
}

// A filter of the user's, such as one that downloads files, may hang and keep git's output open. Its git is ended at the
// limit, and the filter is not waited for.
func TestRunEndsThoughAFilterHangs(t *testing.T) {
	dir := gitOf(t, "sleep 600 & echo $! >pid\nwait")
	filter := 0
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		_, err := Dir(dir).Run(ctx, "rev-parse", "HEAD")
		ended <- err
	}()
	rig.Eventually(t, "the filter runs", func() bool {
		text, _ := os.ReadFile(filepath.Join(dir, "pid"))
		filter, _ = strconv.Atoi(strings.TrimSpace(string(text)))
		return filter > 0
	})
	defer func() { _ = syscall.Kill(filter, syscall.SIGKILL) }()
	cancel() // as at the limit
	rig.Eventually(t, "the run ends", func() bool { return len(ended) > 0 })
	err := <-ended
	rig.Check(t, fail.KindOf(err) == fail.TimedOut, "%v", err)
}

// A filter that git leaves behind is not waited for either, and what git has said counts.
func TestRunEndsThoughAFilterIsLeft(t *testing.T) {
	dir := gitOf(t, "sleep 8 &\necho said")
	said, err := Dir(dir).Run(t.Context(), "rev-parse", "HEAD")
	rig.Check(t, said == "said" && err == nil, "%q, %v", said, err)
}

// A restore of a worktree takes what git writes as fast as its disk is.
func TestASlowReaderHasNoLimit(t *testing.T) {
	t.Parallel()
	rig.Equal(t, waitFor(&strings.Builder{}), 0, "the wait for a reader")
	rig.Equal(t, waitFor(&bytes.Buffer{}), waitLeft, "the wait for what is kept in memory")
}
