package serve

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"syscall"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/store"
)

// SocketPath is where the server of a project is asked; "" where there is no runtime folder.
func SocketPath(s *store.Store) string {
	if s.Runtime() == "" {
		return ""
	}
	return filepath.Join(s.Runtime(), "serve", s.ProjectHash()+".sock")
}

// listen opens the socket of a project. The caller is its only server.
func listen(ctx context.Context, s *store.Store) (l net.Listener, forget func(), err error) {
	path := SocketPath(s)
	if path == "" {
		return nil, nil, agent.Errorf(agent.Unfit, "there is no folder for its socket").Hint("name one: export XDG_RUNTIME_DIR=/path/of/yours")
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, nil, err
	}
	if err := checkOwn(filepath.Dir(path)); err != nil {
		return nil, nil, err
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) { // of one that was killed
		return nil, nil, err
	}
	err = through(path, func(short string) error {
		var config net.ListenConfig
		l, err = config.Listen(ctx, "unix", short)
		if unix, ok := l.(*net.UnixListener); ok {
			unix.SetUnlinkOnClose(false) // by a name that is gone then
		}
		return err
	})
	if err != nil {
		return nil, nil, err
	}
	if err := os.Chmod(path, 0o600); err != nil {
		return nil, nil, errors.Join(err, l.Close())
	}
	return l, func() { _ = os.Remove(path) }, nil
}

// dial reaches the server of a project. Errors: [os.ErrNotExist] and others, when there is none.
func dial(ctx context.Context, s *store.Store) (conn net.Conn, err error) {
	path := SocketPath(s)
	if path == "" {
		return nil, os.ErrNotExist
	}
	if err := checkOwn(filepath.Dir(path)); err != nil {
		return nil, err
	}
	err = through(path, func(short string) error {
		var dialer net.Dialer
		conn, err = dialer.DialContext(ctx, "unix", short)
		return err
	})
	return conn, err
}

// through names a socket by its open folder: the kernel takes no path of more than 107 bytes.
func through(path string, use func(short string) error) error {
	folder, err := os.Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	defer folder.Close()
	return use(fmt.Sprintf("/proc/self/fd/%d/%s", folder.Fd(), filepath.Base(path)))
}

// checkOwn refuses a folder that is not this user's alone: another could have put a socket there.
func checkOwn(folder string) error {
	info, err := os.Lstat(folder)
	if err != nil {
		return err
	}
	owner, known := info.Sys().(*syscall.Stat_t)
	if !info.IsDir() || !known || int(owner.Uid) != os.Geteuid() || info.Mode().Perm()&0o077 != 0 {
		return agent.Errorf(agent.BadInput, "%s is not this user's alone", agent.Quote(folder)).Hint("look at what it is: ls -ld %s", agent.ShellWord(folder))
	}
	return nil
}
