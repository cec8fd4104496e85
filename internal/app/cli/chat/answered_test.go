package chat

import (
	"bytes"
	"testing"

	"nbs-worker/internal/app/cli/ui"
	"nbs-worker/internal/sim/rig"
	"nbs-worker/internal/store/conversations"
)

// What was printed while an answer was given may lack some of it, or be of an attempt that failed.
func TestTheWholeAnswerIsPrinted(t *testing.T) {
	t.Parallel()
	for said, want := range map[string]string{
		"":                    "one two\n",
		"one two":             "\n",
		"Let me look.one two": "\n",
		"one":                 "\none two\n",
	} {
		var out bytes.Buffer
		f := &ui.Factory{}
		f.Streams.Out = &out
		rig.Must(t, answered(f, "review", conversations.Result{Answer: "one two"}, said))
		rig.Check(t, out.String() == want, "after %q: %q; want %q", said, out.String(), want)
	}
}

// What Claude said by itself follows the answer, also one that was printed as it came; an empty answer is said to be empty.
func TestWhatFollowsAnAnswerIsPrinted(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ answer, said, out, note string }{
		{"one", "", "one\n\nlater\n\nat last\n", ""},
		{"one", "one", "\n\nlater\n\nat last\n", ""},
		{"", "", "\nlater\n\nat last\n", "note: Claude gave an empty answer.\n"},
	} {
		var out, note bytes.Buffer
		f := &ui.Factory{}
		f.Streams.Out, f.Streams.Err = &out, &note
		rig.Must(t, answered(f, "review", conversations.Result{Answer: c.answer, FollowUps: []string{"later", "at last"}}, c.said))
		rig.Check(t, out.String() == c.out && note.String() == c.note, "after %q: %q, %q", c.said, out.String(), note.String())
	}
}

// What Claude was refused, and its warning about the folder, are beside the answer and not in it.
func TestRefusalsAndWarningsAreNotes(t *testing.T) {
	t.Parallel()
	var out, notes bytes.Buffer
	f := &ui.Factory{}
	f.Streams.Out, f.Streams.Err = &out, &notes
	rig.Must(t, answered(f, "review", conversations.Result{
		Answer: "one", Notice: "Claude was not permitted to use Write.", Denials: []conversations.Denial{{Tool: "Write"}}, Warning: "Ignoring 1 entry",
	}, ""))
	const want = "note: Claude was not permitted to use Write.\nhint: what Claude may do: nbs-worker help permissions\nnote: Claude warns: Ignoring 1 entry\n"
	rig.Check(t, out.String() == "one\n" && notes.String() == want, "%q, %q", out.String(), notes.String())
}
