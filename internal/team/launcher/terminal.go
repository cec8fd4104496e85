package launcher

import (
	"os"

	"golang.org/x/term"

	"nbs-worker/internal/platform/machine/portable"
)

// terminal is the state in which the launcher found its terminal; nil without a terminal.
type terminal struct{ state *term.State }

func saveTerminal() terminal {
	state, err := term.GetState(int(os.Stdin.Fd()))
	if err != nil {
		return terminal{}
	}
	return terminal{state: state}
}

// gone reports whether the terminal was hung up. Claude may notice that at the end of its input, and leave with code
// 0 before any signal arrives.
func (t terminal) gone() bool {
	if t.state == nil {
		return false
	}
	_, err := term.GetState(int(os.Stdin.Fd()))
	return err != nil
}

// resetModes leaves the alternate screen, turns off the mouse, bracketed paste and
// the keyboard protocol, shows the cursor and drops title and colours.
const resetModes = "\x1b[?2004l\x1b[?1004l\x1b[?1000l\x1b[?1002l\x1b[?1003l\x1b[?1006l\x1b[<u\x1b[>4m\x1b[?2026l" +
	"\x1b[?1049l\x1b[?25h\x1b[r\x1b(B\x1b[0m\x1b]0;\a\r\n"

// reset undoes what a killed claude had no time to undo.
func (t terminal) reset() {
	if t.state == nil {
		return
	}
	_ = term.Restore(int(os.Stdin.Fd()), t.state)
	t.write(resetModes)
}

// A killed claude leaves the cursor at any place. The next claude would draw from there over old text, which readers
// of the screen would take for text in its prompt.
const (
	toTheEnd    = "\x1b[999;1H\r\n"
	clearScreen = "\x1b[H\x1b[2J" // tmux keeps the old text in its history
)

// write writes a sequence to a terminal; without a terminal it does nothing.
func (t terminal) write(sequence string) {
	if t.state != nil {
		_, _ = os.Stdout.WriteString(sequence)
	}
}

// dropKeys drops what was typed while no claude had the terminal: the next claude would take it for a prompt, or for
// the answer to a dialog.
func (t terminal) dropKeys() {
	if t.state != nil {
		portable.DropInput(os.Stdin)
	}
}

// PaneEnv returns the variables that the terminal of this process adds to an environment.
func PaneEnv() map[string]string {
	env := map[string]string{}
	for _, name := range []string{"TERM", "TMUX", "TMUX_PANE", "COLORTERM", "TERM_PROGRAM", "TERM_PROGRAM_VERSION"} {
		if value, ok := os.LookupEnv(name); ok {
			env[name] = value
		}
	}
	return env
}
