// Package trust distinguishes files that the user has written or allowed from files that merely
// came with a project. A project may come from a stranger, and git makes the user who clones it
// the owner of its files. So each file that decides what is run carries a seal: an HMAC-SHA-256
// with a key that is the user's own and never in a project.
//
// A seal covers the content. It covers the place only if that is sealed too ([Placed]), and never
// the age: older content that was sealed once stays valid as long as the key exists.
//
// The package knows nothing of records, processes or Claude Code, and must not import the
// packages that do.
package trust

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"sync"

	"nbs-worker/internal/agent"
)

// ErrSeal is the error for content that does not have the seal of this user.
var ErrSeal = errors.New("it does not have this user's seal")

// Keeper makes seals and checks them. A nil Keeper returns [ErrNoHome]. It is safe for concurrent use, and reads the
// key when it first needs it.
type Keeper struct {
	home Home

	mu  sync.Mutex
	key []byte // nil: not read yet
}

// NewKeeper returns a keeper with the key of a state folder.
func NewKeeper(home Home) *Keeper { return &Keeper{home: home} }

// Home returns the folder in which the key is.
func (k *Keeper) Home() Home { return k.home }

// Seal returns the seal of a content of a kind. It is not valid for the same content of another kind. Seal creates
// the key if it does not exist. Errors: Unfit when the key cannot be used; Failed when the key cannot be read now.
func (k *Keeper) Seal(kind string, content []byte) (string, error) {
	key, err := k.made()
	if err != nil {
		return "", err
	}
	return encode(sum(key, kind, content)), nil
}

// Check checks the seal of a content. Errors: [ErrSeal]; Unfit when the key cannot be used; Failed when the key
// cannot be read now.
func (k *Keeper) Check(kind string, content []byte, seal string) error {
	key, err := k.read()
	if err != nil {
		return err
	}
	if key == nil {
		return k.missing()
	}
	given, err := base64.RawURLEncoding.DecodeString(seal)
	if err != nil || !hmac.Equal(given, sum(key, kind, content)) {
		return ErrSeal
	}
	return nil
}

// Placed joins a content with its place, for a seal that is not valid in another project or under another name.
// Neither project nor name has a zero byte, so no two places have the same encoding.
func Placed(content []byte, project, name string) []byte {
	return append([]byte(project+"\x00"+name+"\x00"), content...)
}

// SealFields seals a list of fields as [Keeper.Seal] does, with a short sum of each field, which shows later which
// fields were changed.
func (k *Keeper) SealFields(kind string, fields []agent.Field) (*agent.Seal, error) {
	whole, err := k.Seal(kind, join(fields))
	if err != nil {
		return nil, err
	}
	sums := make(map[string]string, len(fields))
	for _, field := range fields {
		sums[field.Name] = short(k.key, kind, field)
	}
	text, err := json.Marshal(sums)
	return &agent.Seal{MAC: whole, Fields: text}, err
}

// CheckFields checks the seal of [Keeper.SealFields]. Errors: as of [Keeper.Check].
func (k *Keeper) CheckFields(kind string, fields []agent.Field, seal *agent.Seal) error {
	if k == nil {
		return ErrNoHome
	}
	if seal == nil {
		return ErrSeal
	}
	return k.Check(kind, join(fields), seal.MAC)
}

// Changed names the fields that have changed since they were sealed. It names none if that is not known.
func (k *Keeper) Changed(kind string, fields []agent.Field, seal *agent.Seal) []string {
	key, err := k.read()
	if err != nil || key == nil || seal == nil {
		return nil
	}
	var sums map[string]string
	if json.Unmarshal(seal.Fields, &sums) != nil {
		return nil
	}
	var changed []string
	for _, field := range fields {
		if sums[field.Name] != short(key, kind, field) {
			changed = append(changed, field.Name)
		}
	}
	if len(changed) == len(fields) {
		return nil // another key sealed it
	}
	return changed
}

// shortBytes is how many bytes of a field's sum are kept: the sums only show what was changed, and decide nothing.
const shortBytes = 8

func short(key []byte, kind string, field agent.Field) string {
	return encode(sum(key, kind+" "+field.Name, []byte(field.Value))[:shortBytes])
}

// sum returns the HMAC of a content and its kind, so that it differs from kind to kind.
func sum(key []byte, kind string, content []byte) []byte {
	mac := hmac.New(sha256.New, key)
	mac.Write(appendWord(nil, kind))
	mac.Write(content)
	return mac.Sum(nil)
}

// join encodes fields so that no two lists have the same encoding.
func join(fields []agent.Field) []byte {
	joined := make([]byte, 0, 1<<10) // which is enough for most
	for _, field := range fields {
		for _, word := range []string{field.Name, field.Value} {
			joined = appendWord(joined, word)
		}
	}
	return joined
}

func appendWord(to []byte, word string) []byte {
	return append(binary.AppendUvarint(to, uint64(len(word))), word...)
}

func encode(sum []byte) string { return base64.RawURLEncoding.EncodeToString(sum) }
