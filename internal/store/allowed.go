package store

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"
	"strings"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/store/private"
	"nbs-worker/internal/trust"
)

// allowed holds the seals of files of the project that decide what is done, such as runbooks. A
// seal vouches for a content at its place: a copy in another project has to be looked at there.
const allowed = "allowed"

// fileSeal is the seal of one file.
type fileSeal struct {
	Kind string `json:"kind"`
	Name string `json:"name"` // within the project
	MAC  string `json:"mac"`
}

// SealFile has the user vouch for the content of a file of the project, by its name there.
// Errors: Unfit when the key cannot be used.
func (s *Store) SealFile(kind, name string, content []byte) error {
	if s.keeper == nil {
		return private.ErrNoTree
	}
	if err := s.prepare(); err != nil {
		return err
	}
	mac, err := s.keeper.Seal(kind, s.placed(name, content))
	if err != nil {
		return err
	}
	return s.nbs.WriteJSON(allowed, sealName(kind, name), fileSeal{Kind: kind, Name: name, MAC: mac}, fileLimit)
}

// CheckFile checks that the user vouches for the content of a file of the project.
// Errors: Held when nobody does; Unfit when the key cannot be used.
func (s *Store) CheckFile(kind, name string, content []byte) error {
	if s.keeper == nil {
		return private.ErrNoTree
	}
	data, err := s.nbs.Read(allowed, sealName(kind, name), fileLimit)
	if errors.Is(err, fs.ErrNotExist) {
		return agent.Errorf(agent.Held, "%s is not allowed: it lies in the project, and you have not looked at it", agent.Quote(name))
	}
	if err != nil {
		return err
	}
	var seal fileSeal
	_ = json.Unmarshal(data, &seal) // a damaged one vouches for nothing
	err = s.keeper.Check(kind, s.placed(name, content), seal.MAC)
	if errors.Is(err, trust.ErrSeal) {
		return agent.Errorf(agent.Held, "%s is not allowed: it is not as you have allowed it", agent.Quote(name))
	}
	return err
}

// placed is a content with its place. A name has no zero byte, so no two are alike.
func (s *Store) placed(name string, content []byte) []byte {
	return append([]byte(strings.Join([]string{s.project, name, ""}, "\x00")), content...)
}

func sealName(kind, name string) string {
	const enough = 16 // bytes
	sum := sha256.Sum256([]byte(name))
	return kind + "-" + hex.EncodeToString(sum[:enough]) + ".json"
}
