package tmux

import (
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"nbs-worker/internal/platform/portable"
	"nbs-worker/internal/sim/rig"
)

// Go raises its own soft limit and puts it back in its children; the first one tells.
func TestOpenFilesAreTheCallers(t *testing.T) {
	s := newServer(t)
	rig.Equal(t, s.shared.filesLimit(), 0, "before the first call")
	s.panes()
	var limit unix.Rlimit
	rig.Must(t, unix.Getrlimit(unix.RLIMIT_NOFILE, &limit))
	n := s.shared.filesLimit()
	rig.Check(t, n != 0 && n <= limit.Max, "%d of %d", n, limit.Max)
}

// A server that was started here gets a higher limit, and one that a person has started keeps its own.
func TestServerThatWasStartedHereHasRoom(t *testing.T) {
	s := newServer(t)
	first := s.open(Spec{Name: "alpha", Command: shell(stay)})
	limit, err := portable.FilesLimit(first.ServerPID)
	rig.Must(t, err)
	rig.Check(t, limit.Cur == max(s.shared.filesLimit(), min(limit.Max, enough)), "%+v", limit)
	low := unix.Rlimit{Cur: 100, Max: limit.Max}
	rig.Must(t, portable.SetFilesLimit(first.ServerPID, low))
	s.open(Spec{Name: "beta", Command: shell(stay)})
	s.giveFiles(first.ServerPID) // as when the server gives itself another pid, of its own namespace
	limit, err = portable.FilesLimit(first.ServerPID)
	rig.Must(t, err)
	rig.Check(t, limit == low, "%+v", limit)
}

// The server that a start has seen may be gone when it opens its session.
func TestServerThatCameUpInPlaceOfAnotherHasRoom(t *testing.T) {
	s := newServer(t)
	gone := s.open(Spec{Name: "alpha", Command: shell(stay)})
	s.raw("kill-server")
	rig.Eventually(t, "no panes", func() bool { return len(s.panes()) == 0 })
	low := filepath.Join(s.dir, "low")
	rig.Must(t, os.WriteFile(low, []byte("#!/bin/sh\nulimit -Sn 200; exec tmux \"$@\"\n"), 0o700))
	s.binary = low
	pane := s.open(Spec{Name: "beta", Command: shell(stay), Server: gone.ServerPID})
	limit, err := portable.FilesLimit(pane.ServerPID)
	rig.Must(t, err)
	rig.Check(t, limit.Cur == min(limit.Max, enough) && limit.Cur > 200, "%+v", limit)
}
