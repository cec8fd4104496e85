package ui

import (
	"fmt"
	"os"

	"nbs-worker/internal/store/terminals"
	"nbs-worker/internal/store/trust"
)

// Terminals returns the terminals that full screens of the user have taken.
func (f *Factory) Terminals() *terminals.Drawer {
	home, _ := trust.HomeOf(os.Environ()) // the runtime folder may need none
	return terminals.Of(trust.RuntimeOf(os.Environ(), home))
}

// TakeTerminal notes that this command draws on the whole terminal, until release is called. Without the note, a kill
// leaves the terminal as it is then.
func (f *Factory) TakeTerminal() (release func()) {
	if self, err := f.Machine.Self(); err == nil {
		if release, err := f.Terminals().Take(os.Stdout, self); err == nil {
			return release
		}
	}
	return func() {}
}

// plain ends what a full screen sets: lines that scroll alone, drawn letters, keys of an application, the alternate screen,
// a hidden cursor, the reports of mouse, focus and pasted texts, keys in another form, and output that is held back.
const plain = "\x1b[?2026l\x1b[r\x1b(B\x1b[?1l\x1b>\x1b[?1049l\x1b[?25h\x1b[?1000l\x1b[?1002l\x1b[?1003l\x1b[?1006l\x1b[?1004l\x1b[?2004l\x1b[>4m\x1b[<u\x1b[0m"

// ownTitle gives back the title that the dashboard has put aside.
const ownTitle = "\x1b[23;0t"

// LeaveFullScreen gives back a terminal on which a full screen of another machine was cut off.
func (f *Factory) LeaveFullScreen() { fmt.Fprint(f.Streams.Out, plain) }

// MendTerminal gives back a terminal whose full screen was killed.
func (f *Factory) MendTerminal() {
	if !f.Streams.OutTTY {
		return
	}
	if mended, _ := f.Terminals().GiveBack(os.Stdout, f.Machine.IsAlive); mended { // the command itself says what fails on this terminal
		fmt.Fprint(f.Streams.Out, plain+ownTitle)
		f.SayNote("the dashboard on this terminal was killed; the terminal is as before")
	}
}
