// Package allowed keeps the user's seals of project files that decide what is run, such as runbooks
// and policies, in .nbs/allowed.
//
//   - A file of the project decides nothing by itself: it counts only with the content that the user
//     has seen and sealed.
//   - A seal is valid for one content, one place and one use. A copy in another project, or under
//     another name, needs its own seal.
//   - A damaged seal is not valid.
//
// The package does not know what is in the files, and must not import what does.
package allowed

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"

	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
	"nbs-worker/internal/store/sealed"
	"nbs-worker/internal/store/trust"
)

// Folder is where the seals are, below .nbs.
const Folder = "allowed"

const fileLimit = 1 << 20 // bytes

// Files are the sealed files of one project.
type Files struct{ nbs *sealed.Folder }

// In returns the sealed files of the project with this .nbs folder.
func In(nbs *sealed.Folder) *Files { return &Files{nbs} }

// fileSeal is the seal of one file.
type fileSeal struct {
	Kind string `json:"kind"`
	Name string `json:"name"` // within the project
	MAC  string `json:"mac"`
	Text []byte `json:"text,omitempty"` // what was sealed, to show later what has changed; not kept of a large file
}

const textLimit = 1 << 18 // bytes

// Seal seals the content of a project file for the user, under the file's name in the project. Errors: Unfit
// when the key cannot be used; Failed when the key cannot be read now.
func (f *Files) Seal(kind, name string, content []byte) error {
	if err := f.nbs.Prepare(); err != nil {
		return err
	}
	mac, err := f.nbs.Keeper.Seal(kind, trust.Placed(content, f.nbs.Project, name))
	if err != nil {
		return err
	}
	seal := fileSeal{Kind: kind, Name: name, MAC: mac}
	if len(content) <= textLimit {
		seal.Text = content
	}
	return f.nbs.WriteJSON(Folder, sealName(kind, name), seal, fileLimit)
}

// Sealed returns the content that the user has sealed last; nil if that is unknown.
func (f *Files) Sealed(kind, name string) []byte {
	data, err := f.nbs.Read(Folder, sealName(kind, name), fileLimit)
	var seal fileSeal
	if err != nil || json.Unmarshal(data, &seal) != nil || f.nbs.Keeper.Check(kind, trust.Placed(seal.Text, f.nbs.Project, name), seal.MAC) != nil {
		return nil
	}
	return seal.Text
}

// Check checks that the user has sealed this content of a project file. Errors: Held when it is not sealed;
// Unfit when the key cannot be used; Failed when the key cannot be read now.
func (f *Files) Check(kind, name string, content []byte) error {
	data, err := f.nbs.Read(Folder, sealName(kind, name), fileLimit)
	if errors.Is(err, fs.ErrNotExist) {
		return fail.Errorf(fail.Held, "%s is not allowed: you have not said yet that it may run", human.Quote(name))
	}
	if err != nil {
		return err
	}
	var seal fileSeal
	_ = json.Unmarshal(data, &seal) // a damaged seal is not valid
	err = f.nbs.Keeper.Check(kind, trust.Placed(content, f.nbs.Project, name), seal.MAC)
	if errors.Is(err, trust.ErrSeal) {
		return fail.Errorf(fail.Held, "%s is not allowed: it was changed after you allowed it", human.Quote(name)).HintsOf(err)
	}
	return err
}

func sealName(kind, name string) string {
	const enough = 16 // bytes
	sum := sha256.Sum256([]byte(name))
	return kind + "-" + hex.EncodeToString(sum[:enough]) + ".json"
}
