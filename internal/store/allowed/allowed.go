// Package allowed keeps the user's seals of files of the project that decide what is done, such as
// runbooks and policies, in .nbs/allowed.
//
//   - What lies in a project decides nothing by itself: a file counts as the user has looked at it.
//   - A seal vouches for a content at its place and for one use: a copy in another project, or under
//     another name, has to be looked at there.
//   - A damaged seal vouches for nothing.
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

// Files is what the user vouches for in one project.
type Files struct{ nbs *sealed.Folder }

// In is what the user vouches for in the .nbs folder of a project.
func In(nbs *sealed.Folder) *Files { return &Files{nbs} }

// fileSeal is the seal of one file.
type fileSeal struct {
	Kind string `json:"kind"`
	Name string `json:"name"` // within the project
	MAC  string `json:"mac"`
}

// Seal has the user vouch for the content of a file of the project, by its name there.
// Errors: Unfit when the key cannot be used; Failed when the key cannot be read now.
func (f *Files) Seal(kind, name string, content []byte) error {
	if err := f.nbs.Prepare(); err != nil {
		return err
	}
	mac, err := f.nbs.Keeper.Seal(kind, trust.Placed(content, f.nbs.Project, name))
	if err != nil {
		return err
	}
	return f.nbs.WriteJSON(Folder, sealName(kind, name), fileSeal{Kind: kind, Name: name, MAC: mac}, fileLimit)
}

// Check checks that the user vouches for the content of a file of the project.
// Errors: Held when nobody does; Unfit when the key cannot be used; Failed when the key cannot be read now.
func (f *Files) Check(kind, name string, content []byte) error {
	data, err := f.nbs.Read(Folder, sealName(kind, name), fileLimit)
	if errors.Is(err, fs.ErrNotExist) {
		return fail.Errorf(fail.Held, "%s is not allowed: it lies in the project, and you have not looked at it", human.Quote(name))
	}
	if err != nil {
		return err
	}
	var seal fileSeal
	_ = json.Unmarshal(data, &seal) // a damaged one vouches for nothing
	err = f.nbs.Keeper.Check(kind, trust.Placed(content, f.nbs.Project, name), seal.MAC)
	if errors.Is(err, trust.ErrSeal) {
		return fail.Errorf(fail.Held, "%s is not allowed: it is not as you have allowed it", human.Quote(name)).HintsOf(err)
	}
	return err
}

func sealName(kind, name string) string {
	const enough = 16 // bytes
	sum := sha256.Sum256([]byte(name))
	return kind + "-" + hex.EncodeToString(sum[:enough]) + ".json"
}
