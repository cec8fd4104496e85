package ops

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"nbs-worker/internal/host"
	"nbs-worker/internal/platform/fswatch"
)

// hostFiles watches the user's files that decide which hosts there are, and how ssh reaches them.
type hostFiles struct {
	watch      *fswatch.Watch
	hosts, ssh string // folders
	lastOfSSH  string
	changed    chan struct{} // one may have changed
}

// watchHostFiles begins a watch, which ends with the context.
func watchHostFiles(ctx context.Context, file host.File) (*hostFiles, error) {
	home, err := os.UserHomeDir()
	if err != nil {
		return nil, fmt.Errorf("find your home folder: %w", err)
	}
	watch, err := fswatch.New()
	if err != nil {
		return nil, err
	}
	context.AfterFunc(ctx, watch.Close)
	f := &hostFiles{watch: watch, hosts: filepath.Dir(string(file)), ssh: filepath.Join(home, ".ssh"), changed: make(chan struct{}, 1)}
	if err := f.follow(); err != nil {
		return nil, err
	}
	f.lastOfSSH = f.ofSSH()
	go f.run(ctx)
	return f, nil
}

// follow watches the folders, which may be others than before.
func (f *hostFiles) follow() error {
	if err := f.watch.Folder(f.hosts); err != nil {
		return err
	}
	return f.watch.Folder(f.ssh)
}

func (f *hostFiles) run(ctx context.Context) {
	for f.watch.Change(ctx) == nil && f.follow() == nil {
		select {
		case f.changed <- struct{}{}:
		default:
		}
	}
}

// sshChanged reports whether ssh's files have changed since the last call.
func (f *hostFiles) sshChanged() bool {
	last := f.lastOfSSH
	f.lastOfSSH = f.ofSSH()
	return f.lastOfSSH != last
}

// ofSSH describes ssh's files. Sockets of shared connections come and go, and are none.
func (f *hostFiles) ofSSH() string {
	var text strings.Builder
	entries, _ := os.ReadDir(f.ssh) // without the folder there are no files
	for _, entry := range entries {
		if info, err := entry.Info(); err == nil && !info.Mode().IsDir() && info.Mode()&os.ModeSocket == 0 {
			fmt.Fprintln(&text, entry.Name(), info.Size(), info.ModTime().Format(time.RFC3339Nano))
		}
	}
	return text.String()
}
