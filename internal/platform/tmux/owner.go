package tmux

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
	"nbs-worker/internal/platform/machine/portable"
)

// checkSocket refuses a socket that another user made or could replace: a client does what its server says, up to
// running commands and writing files. tmux -L checks the folder itself. With -S, which serves the server that a
// record names, tmux does not. After a reboot any user can create the path of a socket below /tmp. Errors: BadInput.
func checkSocket(path string) error {
	if !portable.FitsSocket(path) {
		return portable.ErrLongSocket(path).Hint("let tmux keep its sockets in a folder with a shorter path: export TMUX_TMPDIR=/tmp")
	}
	folder := filepath.Dir(path)
	info, err := os.Stat(folder)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // no server, and tmux will report that
	}
	if err != nil {
		return err
	}
	sticky := info.Mode()&fs.ModeSticky != 0
	if owner := ownerOf(info); owner != 0 && owner != os.Geteuid() || info.Mode().Perm()&0o022 != 0 && !sticky {
		return fail.Errorf(fail.BadInput, "the folder of the tmux socket %s belongs to another user, or other users can write to it", human.Quote(path)).
			Hint("use a tmux server of your own: --tmux-socket NAME")
	}
	info, err = os.Stat(path)
	if err == nil && info.Mode()&fs.ModeSocket == 0 {
		return fail.Errorf(fail.BadInput, "%s is not a socket; tmux would replace it with one", human.Quote(path)).
			Hint("use another tmux server: --tmux-socket NAME")
	}
	if err == nil && ownerOf(info) != os.Geteuid() {
		return fail.Errorf(fail.BadInput, "the tmux socket %s belongs to user id %d", human.Quote(path), ownerOf(info)).
			Hint("use a tmux server of your own: --tmux-socket NAME")
	}
	return nil // and without a socket there is no server
}

func ownerOf(info fs.FileInfo) int { return int(info.Sys().(*syscall.Stat_t).Uid) }
