package serve

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"

	"nbs-worker/internal/chat/serve/client"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/store"
)

// listen opens a project's socket. The caller is its only server.
func listen(ctx context.Context, s *store.Store) (l net.Listener, forget func(), err error) {
	path := client.SocketPath(s)
	if path == "" {
		return nil, nil, fail.Errorf(fail.Unfit, "there is no folder for the socket").Hint("name one: export XDG_RUNTIME_DIR=/path/of/yours")
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, nil, err
	}
	if err := client.CheckOwn(filepath.Dir(path)); err != nil {
		return nil, nil, err
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) { // from a killed server
		return nil, nil, err
	}
	err = client.Through(path, func(short string) error {
		var config net.ListenConfig
		l, err = config.Listen(ctx, "unix", short)
		if unix, ok := l.(*net.UnixListener); ok {
			unix.SetUnlinkOnClose(false) // it would use the short name, which no longer works by then
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
