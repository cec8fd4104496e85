package host

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"

	"github.com/google/renameio/v2"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
	"nbs-worker/internal/platform/folder"
	"nbs-worker/internal/platform/smallfile"
	"nbs-worker/internal/store"
)

// File is the path of hosts.yaml. The file is the user's, and never of a project: what lies in a project must not
// decide where commands run. It may be a link.
type File string

const fileLimit = 1 << 20 // bytes

// FileOf returns $XDG_CONFIG_HOME/nbs-worker/hosts.yaml, or ~/.config/nbs-worker/hosts.yaml, from an environment.
// Errors: Unfit when it names neither.
func FileOf(env []string) (File, error) {
	const name = "nbs-worker/hosts.yaml"
	if dir := agent.Variable(env, "XDG_CONFIG_HOME"); filepath.IsAbs(dir) { // its specification says to ignore a relative path
		return File(filepath.Join(dir, name)), nil
	}
	if dir := agent.Variable(env, "HOME"); filepath.IsAbs(dir) {
		return File(filepath.Join(dir, ".config", name)), nil
	}
	return "", fail.Errorf(fail.Unfit, "there is no folder for the user's configuration: neither XDG_CONFIG_HOME nor HOME is an absolute path").
		Hint("name one: export XDG_CONFIG_HOME=/path/of/yours")
}

// Load reads the hosts of the user of an environment, sorted by name. Errors: those of FileOf, BadInput, which lists all
// mistakes of the file.
func Load(env []string) (Hosts, error) {
	f, err := FileOf(env)
	if err != nil {
		return nil, err
	}
	return f.Load()
}

// Load reads the hosts, sorted by name; there are none if the file does not exist. Errors: BadInput, which lists all
// mistakes.
func (f File) Load() (Hosts, error) {
	hosts, _, err := f.read()
	return hosts, err
}

// read returns the hosts, and the file's text for a change that keeps the user's comments.
func (f File) read() (Hosts, []byte, error) {
	path := string(f)
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, fmt.Errorf("read the hosts: %w", err)
	}
	if owner := info.Sys().(*syscall.Stat_t).Uid; int(owner) != os.Geteuid() {
		return nil, nil, fail.Errorf(fail.BadInput, "%s belongs to user id %d, who could decide where your commands run", human.Quote(path), owner).
			Hint("look at it, then copy it: cp %[1]s %[1]s.own && mv %[1]s.own %[1]s", human.ShellWord(path))
	}
	if info.Mode().Perm()&0o022 != 0 {
		return nil, nil, fail.Errorf(fail.BadInput, "%s can be changed by other users (mode %04o), who could decide where your commands run", human.Quote(path), info.Mode().Perm()).
			Hint("make it private: chmod 600 %s", human.ShellWord(path))
	}
	text, err := smallfile.Read(path, fileLimit)
	if err != nil {
		return nil, nil, fmt.Errorf("read the hosts: %w", err)
	}
	hosts, err := Parse(path, text)
	return hosts, text, err
}

// Change replaces the hosts by what change returns of them, under the lock of the file. The user's comments stay. Errors:
// that of change; those of Load; BadInput for a host that cannot be; Conflict when another command keeps the lock.
func (f File) Change(ctx context.Context, change func(Hosts) (Hosts, error)) error {
	path := folder.Real(string(f))
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fail.Errorf(fail.Failed, "make the folder of the hosts: %w", err).Hint("name another: export XDG_CONFIG_HOME=/path/of/yours")
	}
	unlock, err := store.LockFile(ctx, path+".lock")
	if err != nil {
		return err
	}
	defer unlock()
	hosts, text, err := f.read()
	if err != nil {
		return err
	}
	if hosts, err = change(slices.Clone(hosts)); err != nil {
		return err
	}
	for _, h := range hosts {
		if err := h.Check(); err != nil {
			return err
		}
	}
	if text, err = rewritten(text, hosts); err != nil {
		return err
	}
	if err := renameio.WriteFile(path, text, 0o600, renameio.IgnoreUmask()); err != nil {
		return fmt.Errorf("write the hosts: %w", err)
	}
	return nil
}
