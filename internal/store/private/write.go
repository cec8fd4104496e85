package private

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"nbs-worker/internal/fail"

	"github.com/google/renameio/v2"
)

// WriteJSON replaces sub/name atomically and durably.
func (f *Folder) WriteJSON(sub, name string, value any, limit int) error {
	data, err := encode(sub+"/"+name, value, limit)
	if err != nil {
		return err
	}
	return f.Write(sub, name, data)
}

// Write replaces sub/name atomically and durably; the temporary file is in sub, also when the name
// has folders of its own. renameio syncs the file but not the folder; without the second sync a power
// cut can lose the rename.
func (f *Folder) Write(sub, name string, data []byte) error {
	return f.In(sub, func(dir *os.Root) error { return writeDurably(dir, name, sub+"/"+name, data, f.Remedied) })
}

// writeDurably replaces a file of a folder. label is its name in errors.
func writeDurably(dir *os.Root, name, label string, data []byte, remedied func(error) error) error {
	err := renameio.WriteFile(name, data, 0o600, renameio.WithRoot(dir), renameio.WithStaticPermissions(0o600))
	if err != nil {
		return remedied(fmt.Errorf("write %s: %w", label, err))
	}
	if err := synced(dir.Open(filepath.Dir(name))); err != nil {
		return fmt.Errorf("%s is written, but may not survive a power cut: %w", label, err)
	}
	return nil
}

// HandOver replaces sub/name atomically, for a reader that ends with this boot: a power
// cut may lose it. The caller is the only writer.
func (f *Folder) HandOver(sub, name string, value any, limit int) error {
	data, err := encode(sub+"/"+name, value, limit)
	if err != nil {
		return err
	}
	return f.In(sub, func(dir *os.Root) error {
		if err := replace(dir, name, data); err != nil {
			return f.Remedied(fmt.Errorf("write %s/%s: %w", sub, name, err))
		}
		return nil
	})
}

// replace writes a file under another name and renames it. It first removes what a
// killed writer left under that name.
func replace(dir *os.Root, name string, data []byte) error {
	temp := "." + name
	if err := IfThere(dir.Remove(temp)); err != nil {
		return err
	}
	f, err := dir.OpenFile(temp, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err = errors.Join(err, f.Close()); err == nil {
		err = dir.Rename(temp, name)
	}
	if err != nil {
		_ = dir.Remove(temp)
	}
	return err
}

// Delete removes sub/name durably. Errors: [fs.ErrNotExist].
func (f *Folder) Delete(sub, name string) error {
	return f.In(sub, func(dir *os.Root) error {
		if err := dir.Remove(name); err != nil {
			return f.Remedied(err)
		}
		return syncDir(dir)
	})
}

// IfThere drops the error that a file does not exist, for a caller that accepts a missing file.
func IfThere(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// In calls change with a folder below, open.
func (f *Folder) In(sub string, change func(dir *os.Root) error) error {
	dir, err := f.OpenRoot(sub)
	if err != nil {
		return err
	}
	defer dir.Close()
	return change(dir)
}

func encode(name string, value any, limit int) ([]byte, error) {
	data, err := json.MarshalIndent(value, "", "  ")
	if err == nil && len(data) >= limit {
		err = fail.Errorf(fail.BadInput, "%s would have %d bytes, the limit is %d", name, len(data), limit)
	}
	return append(data, '\n'), err
}

func syncDir(dir *os.Root) error { return synced(dir.Open(".")) }

// SyncPath makes the entries of a folder durable.
func SyncPath(path string) error { return synced(os.Open(path)) }

func synced(f *os.File, err error) error {
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
