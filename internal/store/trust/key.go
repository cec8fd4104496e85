package trust

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"
	"time"

	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
)

const (
	keyFile = "key"
	keySize = 32 // bytes
)

// made returns the key, and creates it first if it does not exist.
func (k *Keeper) made() ([]byte, error) {
	key, err := k.read()
	if err != nil || key != nil {
		return key, err
	}
	if err := k.makeKey(); err != nil {
		return nil, fail.Errorf(fail.Unfit, "create the key of the seals %s: %w", human.Quote(k.path()), err).
			Hint("name a state folder that you can write to: export XDG_STATE_HOME=/path/of/yours")
	}
	return k.read()
}

// read reads the key; nil if it does not exist.
func (k *Keeper) read() ([]byte, error) {
	if k == nil {
		return nil, ErrNoHome
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.key != nil {
		return k.key, nil
	}
	key, err := k.readFile()
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	k.key = key
	return key, nil
}

func (k *Keeper) readFile() ([]byte, error) {
	f, err := os.OpenFile(k.path(), os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0) // a pipe in its place does not block
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, err
	case errors.Is(err, syscall.ELOOP), errors.Is(err, syscall.ENXIO), errors.Is(err, syscall.EOPNOTSUPP): // a link; a socket; on macOS
		return nil, k.unfit("it is not a file")
	case err != nil:
		return nil, k.unread(err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, k.unread(err)
	}
	owner := int(info.Sys().(*syscall.Stat_t).Uid)
	switch {
	case !info.Mode().IsRegular():
		return nil, k.unfit("it is not a file")
	case owner != os.Geteuid():
		return nil, k.unfit("it belongs to user id %d", owner)
	case info.Mode().Perm()&0o077 != 0:
		return nil, k.unfit("other users can reach it (mode %04o)", info.Mode().Perm())
	}
	key, err := io.ReadAll(io.LimitReader(f, keySize+1))
	if err != nil {
		return nil, k.unread(err)
	}
	if len(key) != keySize {
		return nil, k.unfit("it does not have %d bytes", keySize)
	}
	return key, nil
}

// makeKey creates the key. The key is durable before it gets its name. If two processes create one at the same time,
// the first counts.
func (k *Keeper) makeKey() (err error) {
	if err := k.home.make(); err != nil {
		return err
	}
	f, err := os.CreateTemp(string(k.home), ".key-*") // 0600
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close(), os.Remove(f.Name())) }()
	key := make([]byte, keySize)
	_, _ = rand.Read(key) // it never fails
	if _, err := f.Write(key); err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	if err := os.Link(f.Name(), k.path()); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	dir, err := os.Open(string(k.home))
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}

func (k *Keeper) path() string { return k.home.Path(keyFile) }

// missing returns the error for a seal that is checked without a key. It is an [ErrSeal].
func (k *Keeper) missing() error {
	return fail.Errorf(fail.Held, "%w: the key of the seals is missing: %s", ErrSeal, human.Quote(k.path())).
		Hint("put your key back first; without it, nothing that you have sealed is accepted: ls -la %s", human.ShellWord(string(k.home)))
}

// IfReplaced returns the remedy for seals that are not valid because the key was replaced, or "" if no key exists.
func (k *Keeper) IfReplaced() string {
	info, err := os.Stat(k.path())
	if err != nil {
		return ""
	}
	return fmt.Sprintf("if your key was replaced (this one is from %s), put the old one back first: ls -la %s",
		info.ModTime().Format(time.DateTime), human.ShellWord(string(k.home)))
}

// unread returns the error for a key that cannot be read now, for example because too many files are open. The key
// must not be replaced then.
func (k *Keeper) unread(err error) error {
	return fail.Errorf(fail.Failed, "read the key of the seals: %w", err).
		Hint("look at it: ls -l %s", human.ShellWord(k.path()))
}

// unfit returns the error for a key that must not be used. Only a person replaces it by a new one.
func (k *Keeper) unfit(format string, args ...any) error {
	return fail.Errorf(fail.Unfit, "the key of the seals %s cannot be used: "+format, append([]any{human.Quote(k.path())}, args...)...).
		Hint("look at it: ls -l %s", human.ShellWord(k.path())).
		Hint("or get a new key, and allow each agent again with nbs-worker allow: mv %s %s", human.ShellWord(k.path()), human.ShellWord(k.path()+".old"))
}
