package link

import (
	"fmt"
	"os"
	"path/filepath"

	"nbs-worker/internal/host"
	"nbs-worker/internal/store/trust"
)

// Open returns the link to a host. What ssh writes goes to a log in the user's state folder.
func Open(home trust.Home, h host.Host, limits Limits) (*Link, error) {
	const folderMode, fileMode = 0o700, 0o600
	path := home.Path("hosts", h.Name+".log")
	if err := os.MkdirAll(filepath.Dir(path), folderMode); err != nil {
		return nil, fmt.Errorf("make the folder of the log: %w", err)
	}
	log, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, fileMode)
	if err != nil {
		return nil, fmt.Errorf("open the log: %w", err)
	}
	return &Link{Host: h, Limits: limits, Log: log}, nil
}
