package claude

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/google/renameio/v2"

	"nbs-worker/internal/agent"
)

const (
	configLockWait  = 5 * time.Second
	configLockRetry = 20 * time.Millisecond
	configLockStale = 10 * time.Second // Claude refreshes a lock that it still holds
)

// Trust accepts the trust dialog of a folder in Claude's configuration, as the
// dialog itself does: under Claude's lock, atomically, everything else in the file
// as it was. Errors: Conflict when the lock stays held.
func (c Config) Trust(ctx context.Context, folder string) error {
	folder, err := filepath.EvalSymlinks(folder)
	if err != nil {
		return err
	}
	unlock, err := lockConfig(ctx, c.file)
	if err != nil {
		return err
	}
	defer unlock()
	data, err := os.ReadFile(c.file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	changed, err := withTrust(data, folder)
	if err != nil {
		return agent.Errorf(agent.BadInput, "Claude's configuration %s cannot be read: %w", agent.Quote(c.file), err)
	}
	return renameio.WriteFile(c.file, changed, 0o600, renameio.WithTempDir(filepath.Dir(c.file)))
}

// withTrust sets projects[folder].hasTrustDialogAccepted and leaves the text of
// every other value untouched.
func withTrust(data []byte, folder string) ([]byte, error) {
	file, err := object(data)
	if err != nil {
		return nil, err
	}
	projects, err := object(file["projects"])
	if err != nil {
		return nil, err
	}
	project, err := object(projects[folder])
	if err != nil {
		return nil, err
	}
	project["hasTrustDialogAccepted"] = json.RawMessage("true")
	if projects[folder], err = json.Marshal(project); err != nil {
		return nil, err
	}
	if file["projects"], err = json.Marshal(projects); err != nil {
		return nil, err
	}
	return json.MarshalIndent(file, "", "  ")
}

// object reads a JSON object; nothing at all is the empty one.
func object(data []byte) (map[string]json.RawMessage, error) {
	fields := map[string]json.RawMessage{}
	if len(data) == 0 {
		return fields, nil
	}
	err := json.Unmarshal(data, &fields)
	return fields, err
}

// lockConfig takes the lock that Claude takes before it writes the file: a folder
// beside it, whose age tells whether its holder still lives.
func lockConfig(ctx context.Context, file string) (unlock func(), err error) {
	lock := file + ".lock"
	deadline := time.After(configLockWait)
	retry := time.NewTicker(configLockRetry)
	defer retry.Stop()
	for {
		err := os.Mkdir(lock, 0o700)
		if err == nil {
			return func() { _ = os.Remove(lock) }, nil
		}
		if !errors.Is(err, fs.ErrExist) {
			return nil, err
		}
		if info, err := os.Stat(lock); err == nil && time.Since(info.ModTime()) > configLockStale {
			_ = os.Remove(lock) // whoever makes it next holds it
			continue
		}
		select {
		case <-retry.C:
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-deadline:
			return nil, agent.Errorf(agent.Conflict, "Claude's configuration stayed locked for %s: %s", configLockWait, agent.Quote(lock))
		}
	}
}
