package link

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"nbs-worker/internal/host"
	"nbs-worker/internal/store/trust"
)

// Open returns the link to a host. What ssh writes goes to a log in the user's state folder.
func Open(home trust.Home, h host.Host, limits Limits) (*Link, error) {
	const folderMode, fileMode = 0o700, 0o600
	path := logOf(home, h.Name)
	if err := os.MkdirAll(filepath.Dir(path), folderMode); err != nil {
		return nil, fmt.Errorf("make the folder of the log: %w", err)
	}
	log, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_APPEND, fileMode)
	if err != nil {
		return nil, fmt.Errorf("open the log: %w", err)
	}
	return &Link{Host: h, Limits: limits, Log: sshLog{log}}, nil
}

func logOf(home trust.Home, host string) string { return home.Path("hosts", host+".log") }

// ForgetLog removes the log of a host.
func ForgetLog(home trust.Home, host string) error {
	if err := os.Remove(logOf(home, host)); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// sshLog is a log of bounded size, which several processes may write.
type sshLog struct{ *os.File }

// Write appends to the log. One that is full keeps its end.
func (l sshLog) Write(text []byte) (int, error) {
	const full, end = 1 << 20, 64 << 10 // bytes
	if info, err := l.Stat(); err == nil && info.Size() > full {
		last, err := io.ReadAll(io.NewSectionReader(l, info.Size()-end, end))
		if err == nil && l.Truncate(0) == nil {
			_, _ = l.File.Write(last)
		}
	}
	return l.File.Write(text)
}
