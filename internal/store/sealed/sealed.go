// Package sealed reads and writes files of .nbs that count only with the user's seal. Only the
// packages of internal/store that keep such files may use it.
//
//   - A seal covers the content of a file, its project and its place there: a file from another project,
//     or under another name, has no valid seal.
//   - A file that this user's commands did not write is an error that names the file and the remedy; see
//     [Folder.Refused].
//
// The package knows files and seals, and not what is in the files.
package sealed

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"syscall"

	"nbs-worker/internal/fail"
	"nbs-worker/internal/store/private"
	"nbs-worker/internal/store/trust"
)

// Folder is the .nbs of a project.
type Folder struct {
	*private.Folder

	Keeper  *trust.Keeper // nil: nothing can be sealed, and nothing counts
	Project string        // absolute path
	Prepare func() error  // makes what is missing in .nbs
}

// File is what a file contains. The seal is a field of it.
type File interface {
	// Sealed says what the seal is over in a project.
	Sealed(project string) Over
}

// Over is what a seal covers.
type Over struct {
	Kind    string // a seal of another kind does not count
	Place   string // of the file in the project; "": the content says where it counts
	Content any
	Seal    *string // where the file has its seal
}

func (f *Folder) over(file File) (over Over, content []byte, err error) {
	over = file.Sealed(f.Project)
	content, err = json.Marshal(over.Content)
	if over.Place != "" {
		content = trust.Placed(content, f.Project, over.Place)
	}
	return over, content, err
}

// Seal seals a file. Errors: as of [trust.Keeper.Seal].
func (f *Folder) Seal(file File) error {
	over, content, err := f.over(file)
	if err == nil {
		*over.Seal, err = f.Keeper.Seal(over.Kind, content)
	}
	return err
}

// Check checks the seal of a file. Errors: as of [trust.Keeper.Check].
func (f *Folder) Check(file File) error {
	over, content, err := f.over(file)
	if err != nil {
		return err
	}
	return f.Keeper.Check(over.Kind, content, *over.Seal)
}

// Put seals a file and writes it to sub/name, durably.
func (f *Folder) Put(sub, name string, file File, limit int) error {
	if err := f.Prepare(); err != nil {
		return err
	}
	if err := f.Seal(file); err != nil {
		return err
	}
	return f.WriteJSON(sub, name, file, limit)
}

// Get reads sub/name, and checks its seal. Errors: [fs.ErrNotExist]; those of reading; [ErrUnsealed]; as of
// [trust.Keeper.Check].
func (f *Folder) Get(sub, name string, into File, limit int) error {
	data, err := f.Read(sub, name, limit)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(data, into); err != nil {
		return fmt.Errorf("%w: %w", ErrUnsealed, err)
	}
	return f.Check(into)
}

// List lists a subfolder; the list is empty if it does not exist.
func (f *Folder) List(sub string) ([]string, error) {
	if !f.Made() {
		return nil, nil
	}
	names, err := f.Names(sub)
	return names, private.IfThere(err)
}

// ErrUnsealed is the error for a file without a readable seal.
var ErrUnsealed = errors.New("it has no seal")

// Refused returns the error for a file that was changed or damaged, with its remedy. where names a place in the file,
// "" all of it. Errors: Held for a file without the user's seal; Failed for a damaged one. An error that says nothing
// about the file, such as too many open files, has no remedy here.
func (f *Folder) Refused(file, where string, err error, remedy string) error {
	if _, is := errors.AsType[*fail.Error](err); is {
		return err // it has a remedy of its own
	}
	if _, is := errors.AsType[syscall.Errno](err); is && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("read %s: %w", f.Label(file), err)
	}
	if errors.Is(err, trust.ErrSeal) || errors.Is(err, ErrUnsealed) {
		refused := fail.Errorf(fail.Held, "%s%s was not written here by a command of this user: %w", f.Label(file), where, err)
		if replaced := f.Keeper.IfReplaced(); replaced != "" {
			refused = refused.Hint("%s", replaced)
		}
		return refused.Hint("%s", remedy)
	}
	return fail.Errorf(fail.Failed, "%s%s is damaged: %w", f.Label(file), where, err).Hint("%s", remedy)
}
