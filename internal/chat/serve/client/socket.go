package client

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"syscall"

	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
	"nbs-worker/internal/platform/machine/portable"
	"nbs-worker/internal/store"
)

// SocketPath returns the path of the server's socket; "" without a runtime folder.
func SocketPath(s *store.Store) string {
	if s.Runtime() == "" {
		return ""
	}
	return filepath.Join(s.Runtime(), "serve", s.ProjectHash()+".sock")
}

// dial connects to a project's server. Errors: [os.ErrNotExist] and others if there is no server.
func dial(ctx context.Context, s *store.Store) (conn net.Conn, err error) {
	path := SocketPath(s)
	if path == "" {
		return nil, os.ErrNotExist
	}
	if err := CheckOwn(filepath.Dir(path)); err != nil {
		return nil, err
	}
	err = Through(path, func(short string) error {
		var dialer net.Dialer
		conn, err = dialer.DialContext(ctx, "unix", short)
		return err
	})
	return conn, err
}

// Through calls use with a short name of a socket, through its open folder, where the operating system has such names. Errors:
// BadInput if the name is too long for a socket.
func Through(path string, use func(short string) error) error {
	folder, err := os.Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	defer folder.Close()
	short := portable.Inside(folder, filepath.Base(path))
	if !portable.FitsSocket(short) {
		return portable.ErrLongSocket(short).Hint("use a folder of yours with a shorter path: export XDG_RUNTIME_DIR=/path/of/yours")
	}
	return use(short)
}

// CheckOwn refuses a folder that is not only this user's: another user could have put a socket there.
func CheckOwn(folder string) error {
	info, err := os.Lstat(folder)
	if err != nil {
		return err
	}
	owner, known := info.Sys().(*syscall.Stat_t)
	if !info.IsDir() || !known || int(owner.Uid) != os.Geteuid() || info.Mode().Perm()&0o077 != 0 {
		return fail.Errorf(fail.BadInput, "%s does not belong to this user alone", human.Quote(folder)).Hint("look at what it is: ls -ld %s", human.ShellWord(folder))
	}
	return nil
}
