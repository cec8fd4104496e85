package tmux

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"nbs-worker/internal/fail"
	"nbs-worker/internal/sim/rig"
)

// trap is a socket at which somebody waits for a client, and counts those who come.
func trap(t *testing.T) (path string, visitors func() int) {
	t.Helper()
	path = filepath.Join(rig.ShortDir(t), "s")
	return path, rig.Squat(t, path)
}

// mustNotCall checks that no call of tmux reaches the socket.
func mustNotCall(t *testing.T, path string, visitors func() int) {
	t.Helper()
	c, err := New(path)
	rig.Must(t, err)
	_, panesErr := c.Panes(t.Context())
	openErr := c.NewSession(t.Context(), Spec{Name: "x", Dir: "/", Command: []string{"sleep", "1"}})
	for what, err := range map[string]error{"panes": panesErr, "new session": openErr, "kill": c.KillPane(t.Context(), Pane{ID: "%1", PID: 1}), "attach": c.Attach(path, "$1")} {
		rig.Check(t, fail.KindOf(err) == fail.BadInput && strings.Contains(err.Error(), "tmux socket"), "%s: %v; want bad input", what, err)
	}
	n := visitors()
	rig.Check(t, n == 0, "the server of somebody else had %d visitors", n)
}

func TestSocketOfAnotherUserIsNotTouched(t *testing.T) {
	t.Parallel()
	rig.NeedsRoot(t)
	for _, theirs := range []string{"s", "."} { // the socket, its folder
		path, visitors := trap(t)
		rig.Must(t, os.Chown(filepath.Join(filepath.Dir(path), theirs), rig.Nobody, -1))
		mustNotCall(t, path, visitors)
	}
}

func TestSocketThatOthersCanReplaceIsNotTouched(t *testing.T) {
	t.Parallel()
	for _, mode := range []fs.FileMode{0o777, 0o720} {
		path, visitors := trap(t)
		rig.Must(t, os.Chmod(filepath.Dir(path), mode))
		mustNotCall(t, path, visitors)
	}
}

// As /tmp is: in a sticky folder nobody can replace what is another's.
func TestSocketInAStickyFolderServes(t *testing.T) {
	s := newServer(t)
	rig.Must(t, os.Chmod(s.dir, 0o777|fs.ModeSticky))
	s.open(Spec{Name: "nbs-alpha-live", Command: shell(stay)})
	rig.Must(t, checkSocket(filepath.Join(s.dir, "no", "folder")))
	_, err := os.Stat(s.socket)
	rig.Check(t, !errors.Is(err, fs.ErrNotExist), "there is no socket")
}

// A path that is too long for a socket is refused before tmux is called, and the refusal says what to do.
func TestSocketWithALongPath(t *testing.T) {
	t.Parallel()
	err := checkSocket(filepath.Join(rig.ShortDir(t), strings.Repeat("s", 108)))
	rig.Check(t, fail.KindOf(err) == fail.BadInput && strings.Contains(err.Error(), "the path of the socket") && len(fail.HintsOf(err)) == 1, "%v", err)
}
