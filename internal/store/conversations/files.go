package conversations

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"unicode"

	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
	"nbs-worker/internal/store/private"
)

const (
	filesFolder = "files" // of a conversation
	nameLimit   = 80      // bytes of a kept file's name that are its sender's

	// LargestFile is the size limit of a kept file.
	LargestFile = 20 << 20 // bytes
)

// File is a file that came with a text. Claude may read it, and may not change it.
type File struct {
	Name  string `json:"name"`            // as its sender called it
	Type  string `json:"type"`            // its media type
	Kept  string `json:"kept"`            // its name in the conversation's folder
	Size  int    `json:"size"`            // bytes
	Sum   string `json:"sum"`             // of its content
	Shown bool   `json:"shown,omitempty"` // Claude gets it in the message too, as a picture
}

// KeepFile keeps a file of the request with an id, durably: its n-th. The same file may be kept again. It counts with
// the request. Files are removed when the results of their time are. Errors: BadInput when it is too large.
func (c *Conversation) KeepFile(id string, n int, f File, content []byte) (File, error) {
	if len(content) > LargestFile {
		return File{}, fail.Errorf(fail.BadInput, "the file has %s, the limit is %s", human.Bytes(uint64(len(content))), human.Bytes(LargestFile))
	}
	if err := c.make(); err != nil {
		return File{}, err
	}
	if err := c.nbs.Mkdir(c.sub+"/"+filesFolder, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return File{}, c.nbs.Remedied(fmt.Errorf("make %s: %w", c.nbs.Label(c.sub+"/"+filesFolder), err))
	}
	const enough = 8 // digits
	f.Kept = fmt.Sprintf("%s-%d-%s", private.SumOf([]byte(id))[:enough], n, harmless(f.Name))
	f.Size, f.Sum = len(content), string(private.SumOf(content))
	return f, c.nbs.Write(c.sub+"/"+filesFolder, f.Kept, content)
}

// FilePath returns the absolute path of a kept file.
func (c *Conversation) FilePath(f File) string { return c.nbs.Path(c.sub, filesFolder, f.Kept) }

// FileContent reads a kept file. Errors: [fs.ErrNotExist]; Held when it was changed.
func (c *Conversation) FileContent(f File) ([]byte, error) {
	data, err := c.nbs.Read(c.sub+"/"+filesFolder, f.Kept, LargestFile+1)
	if err == nil && string(private.SumOf(data)) != f.Sum {
		err = fail.Errorf(fail.Held, "%s was changed", c.nbs.Label(c.sub+"/"+filesFolder+"/"+f.Kept))
	}
	return data, err
}

// harmless returns a name that is only a file's, in any folder and on any command line.
func harmless(name string) string {
	name = strings.Map(func(r rune) rune {
		if r < unicode.MaxASCII && (unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune(".-_", r)) {
			return r
		}
		return '_'
	}, filepath.Base(name))
	end := filepath.Ext(name)
	end = end[:min(len(end), nameLimit/2)]
	stem := strings.TrimSuffix(name, end)
	return stem[:min(len(stem), nameLimit-len(end))] + end
}
