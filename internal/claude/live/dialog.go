package live

import "time"

// Dialog follows, by Claude's registry, the dialog that a hook waits beside. Claude tells a hook nothing about it: when
// a person has permitted the tool in the terminal, the hook goes on.
//
//   - At first the entry may still say busy: the dialog counts only from when the entry says waiting.
//   - Between two dialogs it may say busy for a moment, and an entry may be written late: the dialog is over when the
//     entry has not said waiting for a while.
type Dialog struct {
	shown bool
	left  time.Time // since when it is shown no more; zero: it is shown
}

// DialogGrace is how long an entry must not have said waiting until a dialog that was shown is over.
const DialogGrace = time.Second

// See takes in the status of an entry at a time.
func (d *Dialog) See(status string, at time.Time) {
	switch {
	case status == StatusWaiting:
		*d = Dialog{shown: true}
	case d.shown && d.left.IsZero():
		d.left = at
	}
}

// End takes in that the turn of the dialog has ended: it is shown no more, whether it was seen or not.
func (d *Dialog) End(at time.Time) {
	if d.shown = true; d.left.IsZero() {
		d.left = at
	}
}

// Forget drops what was seen: the entry is about another dialog of the same claude.
func (d *Dialog) Forget() { *d = Dialog{} }

// Doubtful reports whether the dialog seems to be over: an answer would not reach it.
func (d *Dialog) Doubtful() bool { return !d.left.IsZero() }

// Over returns whether the dialog is over at a time, and if that is in doubt, when it will be decided.
func (d *Dialog) Over(at time.Time) (over bool, decided time.Duration) {
	if !d.Doubtful() {
		return false, 0
	}
	rest := d.left.Add(DialogGrace).Sub(at)
	return rest <= 0, max(rest, 0)
}
