// Package views keeps what a command last showed at a host, in the user's state folder, for when that host does not
// answer. Losing it does no harm.
package views

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"strings"
	"time"

	"nbs-worker/internal/store/private"
	"nbs-worker/internal/store/trust"
)

const (
	limit = 1 << 20             // bytes of a view
	kept  = 30 * 24 * time.Hour // after which a view says nothing
)

// View is what a command showed.
type View struct {
	At   time.Time `json:"at"`
	Text string    `json:"text"`
}

// Drawer has the views of one host.
type Drawer struct {
	tree  private.Tree
	place string
}

// Forget removes all views of a host.
func Forget(home trust.Home, host string) error { return os.RemoveAll(home.Path("hosts", host)) }

// Of returns the views of a host, and of a place there: another place has other views.
func Of(home trust.Home, host, place string) Drawer {
	return Drawer{private.Tree(home.Path("hosts", host)), place}
}

func (d Drawer) file(args []string) string {
	sum := sha256.Sum256([]byte(d.place + "\x00" + strings.Join(args, "\x00")))
	return hex.EncodeToString(sum[:]) + ".json"
}

// Last returns what the command last showed; a zero View if that is not known.
func (d Drawer) Last(args []string) (v View) {
	text, err := d.tree.Read(d.file(args), limit)
	if err != nil || json.Unmarshal(text, &v) != nil {
		return View{}
	}
	return v
}

// Keep notes what the command shows. What is too large is not kept.
func (d Drawer) Keep(args []string, v View) error {
	if text, err := json.Marshal(v); err != nil || len(text) > limit {
		return err
	}
	d.tree.Sweep(v.At, func(_ string, age time.Duration) bool { return age > kept })
	return d.tree.HandOver(d.file(args), v, limit)
}
