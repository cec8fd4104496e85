package private

import "nbs-worker/internal/platform/smallfile"

// Files is a folder below that is open for reading many files in it. Where it cannot be opened,
// that is the error of each file.
type Files struct {
	folder *Folder
	sub    string
	dir    smallfile.Dir
	err    error
}

// FilesOf opens a folder below; no link on the way is followed.
func (f *Folder) FilesOf(sub string) Files {
	dir, err := f.Files(sub)
	return Files{f, sub, dir, err}
}

// Close closes the folder.
func (f Files) Close() error {
	if f.err == nil {
		return f.dir.Close()
	}
	return nil // there is none
}

// View shows a file, until look returns. Errors: [fs.ErrNotExist]; BadInput for a file that somebody else
// could have written.
func (f Files) View(name string, limit int, look func(data []byte) error) error {
	if f.err != nil {
		return f.err
	}
	return f.folder.View(f.dir, f.sub, name, limit, look)
}
