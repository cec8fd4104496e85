// Package conversations keeps the durable state of keyed chats, below .nbs/conversations: the accepted
// turns in order, their attempts and results, and the session of the next turn.
//
//   - <hash of key>/journal.jsonl is the truth: one line for each event, synced before its method
//     returns. Each reader folds it into a [State]. What belongs together is in one line.
//   - pending/<hash>.<number>.json is the request of an open turn. It is written before the line that
//     accepts the turn, does not count without it, and is removed after the line that finishes the turn.
//     When its text is edited before that, <hash>.<number>.<edits>.json takes its place.
//   - <hash of key>/files has the files that came with texts. A request names them with their sums.
//   - results/<hash of the turn's id>.json is written before the line that finishes the turn, and does not
//     count without that line.
//   - meta.json names the key of the folder, and shows that there is a journal: it is written after the
//     first line.
//   - A file or line counts only with the user's seal, over the project and its place too; a line's seal
//     also covers the line before it. An unfinished last line, left by a crash, is cut off. Any other
//     change is an error.
//   - A writer holds the lock <hash>.journal for a moment; a runner of turns holds <hash>.turn. The second
//     is taken before the first. A reader takes none.
//
// The package knows files and seals. It runs nothing, and must not import what does.
package conversations

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"unicode"

	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
	"nbs-worker/internal/store/private"
	"nbs-worker/internal/store/sealed"
)

// Folder is where conversations are, below .nbs.
const Folder = "conversations"

const (
	pendingFolder = Folder + "/pending"
	hashDigits    = 32
)

// Key names a conversation: telegram:123456789, review.
type Key string

// ParseKey checks a key: 1 to 200 bytes of legible text without spaces, that begins with neither "-" nor
// "@". Errors: BadInput.
func ParseKey(s string) (Key, error) {
	const limit = 200
	if s == "" || len(s) > limit || s[0] == '-' || s[0] == '@' || strings.ContainsFunc(s, unicode.IsSpace) || !human.IsLegible(s) {
		return "", fail.Errorf(fail.BadInput, "key %s is not valid: use 1 to %d bytes without spaces, and do not begin with - or @", human.Quote(s), limit)
	}
	return Key(s), nil
}

// hash names the files of a key.
func (k Key) hash() string {
	sum := sha256.Sum256([]byte(k))
	return hex.EncodeToString(sum[:])[:hashDigits]
}

// Drawer holds the conversations of a project.
type Drawer struct {
	nbs          *sealed.Folder
	compactAbove int64 // bytes of a journal
}

// In returns the conversations in the .nbs folder of a project.
func In(nbs *sealed.Folder) *Drawer { return &Drawer{nbs, compactAbove} }

// Conversation is that of one key, which need not exist yet. It is safe for concurrent use.
type Conversation struct {
	*Drawer

	key  Key
	hash string
	sub  string // its folder, below .nbs
}

// Of returns the conversation of a key.
func (d *Drawer) Of(key Key) *Conversation { return d.at(key, key.hash()) }

func (d *Drawer) at(key Key, hash string) *Conversation {
	return &Conversation{Drawer: d, key: key, hash: hash, sub: Folder + "/" + hash}
}

// Key returns the key of the conversation.
func (c *Conversation) Key() Key { return c.key }

// Path returns the absolute path of the conversation's folder.
func (c *Conversation) Path() string { return c.nbs.Path(c.sub) }

// Keys returns the keys of all conversations, sorted. Beside an error for those that cannot be read, it returns the
// keys of the others.
func (d *Drawer) Keys() ([]Key, error) {
	names, err := d.nbs.List(Folder)
	hashes := slices.DeleteFunc(names, func(name string) bool { return !isHash(name) })
	return d.keys(hashes, err, func(*Conversation, State) bool { return true })
}

// WithWork returns the keys with open turns, as [Drawer.Keys] returns them.
func (d *Drawer) WithWork() ([]Key, error) {
	names, err := d.nbs.List(pendingFolder)
	var hashes []string
	for _, name := range names {
		if hash, _, _, is := pendingPlace(name); is {
			hashes = append(hashes, hash)
		}
	}
	slices.Sort(hashes)
	return d.keys(slices.Compact(hashes), err, func(_ *Conversation, s State) bool { return len(s.Open) > 0 })
}

// keys returns the keys of the conversations with these hashes that are wanted.
func (d *Drawer) keys(hashes []string, err error, wanted func(*Conversation, State) bool) ([]Key, error) {
	errs := []error{err}
	var keys []Key
	for _, hash := range hashes {
		c := d.at("", hash)
		s, err := c.State()
		if errors.Is(err, fs.ErrNotExist) {
			continue // its maker was killed before the first turn was accepted
		}
		if errs = append(errs, err); err == nil && wanted(c, s) {
			keys = append(keys, s.Meta.Key)
		}
	}
	slices.Sort(keys)
	return keys, errors.Join(errs...)
}

func isHash(name string) bool {
	_, err := hex.DecodeString(name)
	return err == nil && len(name) == hashDigits
}

// pendingFile returns the name of a turn's request, which was edited so many times.
func pendingFile(hash string, seq, edits int) string {
	if edits > 0 {
		return fmt.Sprintf("%s.%09d.%d.json", hash, seq, edits)
	}
	return fmt.Sprintf("%s.%09d.json", hash, seq)
}

// pendingPlace returns the conversation and the turn of a request file, and how often that was edited.
func pendingPlace(name string) (hash string, seq, edits int, is bool) {
	rest := name[min(len(name), hashDigits):]
	if n, err := fmt.Sscanf(rest, ".%09d.%d.json", &seq, &edits); n != 2 || err != nil {
		edits = 0
		if n, err := fmt.Sscanf(rest, ".%09d.json", &seq); n != 1 || err != nil {
			return "", 0, 0, false
		}
	}
	hash = name[:hashDigits]
	return hash, seq, edits, isHash(hash) && pendingFile(hash, seq, edits) == name
}

// idFile returns the name of a turn's result.
func idFile(id string) string { return string(private.SumOf([]byte(id))) + ".json" }

// named returns the name of the conversation in hints.
func (c *Conversation) named() string {
	return human.ShellWord(cmp.Or(string(c.key), "KEY"))
}
