// Package turnfiles holds files that a claude reads while it runs: for a headless one its system prompt and the
// context of the present turn, for an agent the briefing of its start. They belong to the user, so they are on no
// command line and in no project. They last as long as the process, and no longer than this boot.
package turnfiles

import (
	"errors"
	"io/fs"
	"slices"
	"strings"
	"time"

	"nbs-worker/internal/store/private"
)

// Files are the files of one process.
type Files struct {
	folder private.Tree
	name   string
}

// In returns the files of the process with this name, in a folder that all processes share.
func In(folder private.Tree, name string) Files { return Files{folder: folder, name: name} }

// The files.
const (
	Context      = "context"
	SystemPrompt = "system"
	Briefing     = "briefing"
	Refused      = "refused"  // of a headless one: the status with which the API refuses it, for those who look at its turn
	Observes     = "observes" // of an observer: in which project it is, for the process that looks after its worker was killed
)

// Put replaces a file, and returns its path.
func (f Files) Put(what, content string) (path string, err error) {
	return f.folder.Path(f.file(what)), f.folder.HandOverText(f.file(what), []byte(content))
}

// limit is the largest size of one file, in bytes.
const limit = 1 << 20

// Has reports whether a file waits to be taken.
func (f Files) Has(what string) bool {
	_, err := f.folder.Stat(f.file(what))
	return err == nil
}

// Get reads a file; "" if it does not exist.
func (f Files) Get(what string) (content string, err error) {
	data, err := f.folder.Read(f.file(what), limit)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	return string(data), err
}

// Take reads a file and removes it; "" if it does not exist.
func (f Files) Take(what string) (content string, err error) {
	if content, err = f.Get(what); err != nil || content == "" && !f.Has(what) {
		return "", err
	}
	return content, f.folder.Remove(f.file(what))
}

// With returns the processes whose file of this kind has this content, among all that share the folder.
func (f Files) With(what, content string) (processes []string) {
	names, _ := f.folder.Names() // a folder that cannot be listed has none
	for _, file := range names {
		if !strings.HasSuffix(file, "."+what) {
			continue
		}
		if data, err := f.folder.Read(file, limit); err == nil && string(data) == content {
			processes = append(processes, nameOf(file))
		}
	}
	return processes
}

// Drop removes the files, also half-written ones.
func (f Files) Drop() error {
	names, err := f.folder.Names()
	if err != nil {
		return err
	}
	return f.folder.Remove(slices.DeleteFunc(names, func(file string) bool { return nameOf(file) != f.name })...)
}

// nameOf returns the process that a file belongs to. The name of a half-written file begins with a dot.
func nameOf(file string) string {
	name, _, _ := strings.Cut(strings.TrimPrefix(file, "."), ".")
	return name
}

func (f Files) file(what string) string { return f.name + "." + what }

// Sweep removes old files whose process has ended. Files that cannot be removed stay.
func Sweep(folder private.Tree, now time.Time, isThere func(name string) bool) {
	folder.Sweep(now, func(file string, age time.Duration) bool { return age > old && !isThere(nameOf(file)) })
}

// old is the age after which no process can still be about to start the process of a file.
const old = 10 * time.Minute
