package claude

import (
	"errors"
	"os"
	"syscall"

	"github.com/gofrs/flock"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/fail"
)

// Hold locks the transcript of a conversation until release, or until this process ends. Claude ignores the lock. The
// lock keeps two projects with a record of the conversation from opening it at the same time; the lease of one
// project cannot. Without a transcript there is nothing to lock: held is false. Errors: Conflict.
func (c Config) Hold(id agent.SessionID) (release func(), held bool, err error) {
	file, found, err := c.Transcript(id)
	if err != nil || !found {
		return func() {}, false, err
	}
	lock := flock.New(file.Path, flock.SetFlag(os.O_RDONLY))
	locked, err := lock.TryLock()
	if errors.Is(err, errors.ErrUnsupported) || errors.Is(err, syscall.ENOLCK) {
		return func() {}, true, nil // a file system without locks: the lease has to do
	}
	if err != nil {
		return nil, false, err
	}
	if !locked {
		return nil, false, fail.Errorf(fail.Conflict, "the conversation %s is open already: an agent of another project has it", id)
	}
	return func() { _ = lock.Close() }, true, nil
}
