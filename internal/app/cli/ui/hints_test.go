package ui

import (
	"strings"
	"testing"

	"nbs-worker/internal/sim/rig"
)

// A command of a hint, pasted, acts on the project and the tmux server that this call
// was given.
func TestHintsRepeatTheGlobalFlags(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ root, socket, hint, want string }{
		{"", "", "nbs-worker session alpha", "nbs-worker session alpha"},
		{"/srv/x", "", "nbs-worker session alpha", "nbs-worker --root /srv/x session alpha"},
		{"/srv/x", "", "to end it and start it anew: nbs-worker resume alpha --force", "to end it and start it anew: nbs-worker --root /srv/x resume alpha --force"},
		{
			"../it's $HOME", "", "its record is kept: nbs-worker resume a tries again, nbs-worker dismiss a removes it",
			`its record is kept: nbs-worker --root '../it'\''s $HOME' resume a tries again, nbs-worker --root '../it'\''s $HOME' dismiss a removes it`,
		},
		{"/srv/x", "", "to see the agents: nbs-worker list; to start it: nbs-worker spawn a", "to see the agents: nbs-worker --root /srv/x list; to start it: nbs-worker --root /srv/x spawn a"},
		{"/srv/x", "", "end it in its own terminal with /exit; nbs-worker does not touch a process", "end it in its own terminal with /exit; nbs-worker does not touch a process"},
		{"/srv/x", "", "see nbs-worker spawn --help for --model", "see nbs-worker spawn --help for --model"},
		{"/srv/x", "", "nbs-worker spawn --help", "nbs-worker spawn --help"},
		{"/srv/x", "", "keep it: mv '/srv/x/a' '/srv/x/b'", "keep it: mv '/srv/x/a' '/srv/x/b'"},
		{"", "aside", "nbs-worker resume alpha", "nbs-worker --tmux-socket aside resume alpha"},
		{"/x", "aside", "nbs-worker resume alpha", "nbs-worker --root /x --tmux-socket aside resume alpha"},
		{"/x", "aside", "elsewhere: nbs-worker resume a --force --tmux-socket rescue", "elsewhere: nbs-worker --root /x resume a --force --tmux-socket rescue"},
		{"/x\nhint: rm -rf ~", "", "nbs-worker list", `nbs-worker --root $'/x\x0ahint: rm -rf ~' list`},
		{"/x\x1b[2J", "", "nbs-worker list", `nbs-worker --root $'/x\x1b[2J' list`},
	} {
		var said strings.Builder
		f := &Factory{Streams: Streams{Err: &said}, Root: c.root, Socket: c.socket}
		f.Hint("%s", c.hint)
		want := "hint: " + c.want + "\n"
		rig.Check(t, said.String() == want, "with --root %q --tmux-socket %q:\n%swant\n%s", c.root, c.socket, said.String(), want)
	}
}

func TestNoteIsForTerminalsAndHarmless(t *testing.T) {
	t.Parallel()
	for terminal, want := range map[bool]string{true: "new project: /x?[2J\n", false: ""} {
		var said strings.Builder
		f := &Factory{Streams: Streams{Err: &said, ErrTTY: terminal}}
		f.Note("new project: %s", "/x\x1b[2J")
		rig.Equal(t, said.String(), want, "on a terminal %t", terminal)
	}
}
