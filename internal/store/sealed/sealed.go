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
	"bytes"
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
	Field   string  // of the file, which is the content; "": no field is it alone. The seal is in the field "seal"
	Seal    *string // where the file has its seal
}

func (f *Folder) over(file File) (over Over, content []byte, err error) {
	over = file.Sealed(f.Project)
	content, err = json.Marshal(over.Content)
	return over, over.placed(content, f.Project), err
}

func (o *Over) placed(content []byte, project string) []byte {
	if o.Place == "" {
		return content
	}
	return trust.Placed(content, project, o.Place)
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

// Get reads sub/name, and checks its seal. Errors: [fs.ErrNotExist]; those of reading; [ErrUnsealed]; [ErrLater]; as of
// [trust.Keeper.Check].
func (f *Folder) Get(sub, name string, into File, limit int) error {
	data, err := f.Read(sub, name, limit)
	if err != nil {
		return err
	}
	if err = json.Unmarshal(data, into); err != nil {
		err = fmt.Errorf("%w: %w", ErrUnsealed, err)
	} else {
		err = f.Check(into)
	}
	if err != nil && f.isSealed(data, into) {
		return ErrLater
	}
	return err
}

// isSealed reports whether the seal of a file covers its bytes, also those that this program does not know. What is used
// is never more than what [Folder.Check] has checked.
func (f *Folder) isSealed(data []byte, file File) bool {
	over := file.Sealed(f.Project)
	var fields map[string]json.RawMessage
	var content bytes.Buffer
	var seal string
	return over.Field != "" && json.Unmarshal(data, &fields) == nil && json.Compact(&content, fields[over.Field]) == nil &&
		json.Unmarshal(fields["seal"], &seal) == nil && f.Keeper.Check(over.Kind, over.placed(content.Bytes(), f.Project), seal) == nil
}

// List lists a subfolder; the list is empty if it does not exist.
func (f *Folder) List(sub string) ([]string, error) {
	if !f.Made() {
		return nil, nil
	}
	names, err := f.Names(sub)
	return names, private.IfThere(err)
}

// ErrLater is the error for a file with the user's seal over more than this program knows.
var ErrLater = errors.New("a later version wrote it")

// ErrUnsealed is the error for a file without a readable seal.
var ErrUnsealed = errors.New("it has no seal")

// Refused returns the error for a file that was changed or damaged, with its remedy. where names a place in the file,
// "" all of it. Errors: Held for a file without the user's seal; Unfit for one of a later version; Failed for a damaged
// one. An error that says nothing about the file, such as too many open files, has no remedy here.
func (f *Folder) Refused(file, where string, err error, remedy string) error {
	if _, is := errors.AsType[*fail.Error](err); is {
		return err // it has a remedy of its own
	}
	if _, is := errors.AsType[syscall.Errno](err); is && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("read %s: %w", f.Label(file), err)
	}
	if errors.Is(err, ErrLater) {
		return fail.Errorf(fail.Unfit, "%s%s has what this program does not know: %w", f.Label(file), where, err).Hint("use that version")
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
