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
