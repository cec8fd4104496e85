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
	lost       chan error    // why no more changes are seen
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
	f := &hostFiles{
		watch: watch, hosts: filepath.Dir(string(file)), ssh: filepath.Join(home, ".ssh"), changed: make(chan struct{}, 1), lost: make(chan error, 1),
	}
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
	for {
		err := f.watch.Change(ctx)
		if err == nil {
			err = f.follow()
		}
		if err != nil {
			f.lost <- err
			return
		}
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

// ofSSH describes those of ssh's files that may mend a login. An attempt to log in may write others, such as a log of a
// ProxyCommand, and must not ask for the next one.
func (f *hostFiles) ofSSH() string {
	var text strings.Builder
	entries, _ := os.ReadDir(f.ssh) // without the folder there are no files
	for _, entry := range entries {
		name := entry.Name()
		mends := name == "config" || strings.HasPrefix(name, "id_") || strings.HasPrefix(name, "known_hosts")
		if info, err := entry.Info(); mends && err == nil && !info.IsDir() {
			fmt.Fprintln(&text, name, info.Size(), info.ModTime().Format(time.RFC3339Nano))
		}
	}
	return text.String()
}
