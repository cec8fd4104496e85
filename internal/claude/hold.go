package claude

import (
	"errors"
	"os"
	"syscall"

	"github.com/gofrs/flock"

	"nbs-worker/internal/agent"
)

// Hold locks the transcript of a conversation until release, or until this process
// ends. Claude ignores the lock; it keeps two projects that each have a record of the
// conversation from both opening it, which the lease of one project cannot. Without a
// transcript nothing is locked. Errors: Conflict.
func (c Config) Hold(id agent.SessionID) (release func(), err error) {
	file, found, err := c.Transcript(id)
	if err != nil || !found {
		return func() {}, err
	}
	lock := flock.New(file.Path, flock.SetFlag(os.O_RDONLY))
	locked, err := lock.TryLock()
	if errors.Is(err, errors.ErrUnsupported) || errors.Is(err, syscall.ENOLCK) {
		return func() {}, nil // a file system without locks: the lease has to do
	}
	if err != nil {
		return nil, err
	}
	if !locked {
		return nil, agent.Errorf(agent.Conflict, "the conversation %s is open already, for an agent of another project", id)
	}
	return func() { _ = lock.Close() }, nil
}
