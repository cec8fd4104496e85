// Package progress keeps how far a bridge has taken what a chat system has for it, where the system does not know that
// itself: the file .nbs/matrix.json.
//
//   - The file decides which messages Claude gets, so it counts only with the user's seal, in this project.
//   - It is written only when all that came before is durable elsewhere. One that is older than that does no harm:
//     messages that come again are known by their ids.
//
// The package knows files and seals, and no chat.
package progress

import (
	"errors"
	"fmt"
	"io/fs"
	"time"

	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
	"nbs-worker/internal/store/sealed"
)

const (
	fileName  = "matrix.json"
	fileLimit = 1 << 20 // bytes
	schema    = 1
)

// Progress is how far a bridge is.
type Progress struct {
	Session string    `json:"session"`           // of the account that it counts for, as a sum
	Since   string    `json:"since"`             // what the system calls the place
	At      time.Time `json:"at"`                // when it was recorded
	Noted   []string  `json:"noted,omitempty"`   // the rooms that were told why the bot cannot read them
	Account string    `json:"account,omitempty"` // for a person who reads the file

	Invited map[string]string `json:"invited,omitempty"` // rooms with an invitation that was not accepted, and who has sent it
}

// Drawer keeps the progress of one project.
type Drawer struct{ nbs *sealed.Folder }

// In returns the progress in the .nbs folder of a project.
func In(nbs *sealed.Folder) *Drawer { return &Drawer{nbs} }

// kept is the file.
type kept struct {
	Schema   int      `json:"schema"`
	Progress Progress `json:"progress"`
	Seal     string   `json:"seal"`
}

func (k *kept) Sealed(string) sealed.Over {
	return sealed.Over{Kind: "progress", Place: fileName, Content: k.Progress, Seal: &k.Seal}
}

// Path returns the absolute path of the file.
func (d *Drawer) Path() string { return d.nbs.Path(fileName) }

// Put records the progress, durably.
func (d *Drawer) Put(p Progress) error {
	if err := d.nbs.Put(".", fileName, &kept{Schema: schema, Progress: p}, fileLimit); err != nil {
		return fmt.Errorf("record the progress: %w", err)
	}
	return nil
}

// Get returns what was recorded; the zero value if nothing was. Errors: as of [sealed.Folder.Refused].
func (d *Drawer) Get() (Progress, error) {
	var read kept
	switch err := d.nbs.Get("", fileName, &read, fileLimit); {
	case errors.Is(err, fs.ErrNotExist):
		return Progress{}, nil
	case err != nil:
		return Progress{}, d.nbs.Refused(fileName, "", err, "look at it; without it the bridge begins with the next messages: rm "+human.ShellWord(d.Path()))
	case read.Schema > schema:
		return Progress{}, fail.Errorf(fail.Unfit, "%s has format %d, and this program knows %d: a later version wrote it", d.nbs.Label(fileName), read.Schema, schema).
			Hint("use that version")
	}
	return read.Progress, nil
}
