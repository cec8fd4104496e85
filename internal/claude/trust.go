package claude

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"

	"github.com/google/renameio/v2"
)

const (
	configLockWait  = 15 * time.Second // until what a killed claude left is stale, and for others that wait
	configLockRetry = 20 * time.Millisecond
	configLockStale = 10 * time.Second // Claude refreshes a lock that it still holds
)

// Trust accepts the trust dialog of a folder in Claude's configuration, as the dialog itself does: under Claude's
// lock and atomically. The rest of the file stays unchanged. Errors: Conflict when the lock stays held.
func (c Config) Trust(ctx context.Context, folder string) error {
	folder, err := filepath.EvalSymlinks(folder)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(c.file), 0o700); err != nil {
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
		return fail.Errorf(fail.BadInput, "Claude's configuration %s cannot be read: %w", human.Quote(c.file), err)
	}
	file := c.file
	if target, err := filepath.EvalSymlinks(file); err == nil {
		file = target // a symbolic link to a file that is kept elsewhere stays a link
	}
	return renameio.WriteFile(file, changed, 0o600, renameio.WithTempDir(filepath.Dir(file)))
}

// withTrust sets projects[folder].hasTrustDialogAccepted and leaves the text of every other value unchanged.
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
	if projects[folder], err = encode(project); err != nil {
		return nil, err
	}
	if file["projects"], err = encode(projects); err != nil {
		return nil, err
	}
	return encode(file)
}

// encode indents an object for people, and keeps the spelling of its values: no '<' becomes an escape.
func encode(fields map[string]json.RawMessage) ([]byte, error) {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	err := encoder.Encode(fields)
	return text.Bytes(), err
}

// object reads a JSON object; no data and null are the empty object.
func object(data []byte) (map[string]json.RawMessage, error) {
	var fields map[string]json.RawMessage
	if len(data) > 0 {
		if err := json.Unmarshal(data, &fields); err != nil {
			return nil, err
		}
	}
	if fields == nil {
		fields = map[string]json.RawMessage{}
	}
	return fields, nil
}

// lockConfig takes the lock that Claude takes before it writes the file: a folder beside it. The age of the folder
// shows whether its holder still lives.
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
			_ = os.Remove(lock) // the process that creates it next holds it
		}
		select {
		case <-retry.C:
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-deadline:
			return nil, fail.Errorf(fail.Conflict, "Claude's configuration stayed locked for %s: %s", configLockWait, human.Quote(lock))
		}
	}
}
