package ui

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"nbs-worker/internal/fail"
	"nbs-worker/internal/sim/rig"
)

func TestExitCodeOfAnError(t *testing.T) {
	t.Parallel()
	missing, taken := fail.Errorf(fail.NotFound, "gone"), fail.Errorf(fail.Conflict, "taken")
	for what, c := range map[string]struct {
		err  error
		want int
	}{
		"claude's own code":            {ExitError(143), 143},
		"of the command line":          {errors.New("unknown flag"), 4},
		"of a verb, without a kind":    {Failed(errors.New("disk full"), "spawn"), 1},
		"of a verb":                    {Failed(missing, "resume", "alpha"), 2},
		"of a verb, wrapped":           {Failed(fmt.Errorf("a: %w", taken), "resume"), 5},
		"timed out":                    {Failed(fail.Errorf(fail.TimedOut, "x"), "spawn"), 3},
		"unfit":                        {Failed(fail.Errorf(fail.Unfit, "x"), "spawn"), 6},
		"held":                         {Failed(fail.Errorf(fail.Held, "x"), "spawn"), 8},
		"interrupted":                  {Failed(fail.Errorf(fail.Interrupted, "x"), "spawn"), 130},
		"some of several":              {&Partial{Failures: []error{missing}, Of: 2}, 7},
		"all of several, of one kind":  {&Partial{Failures: []error{Failed(missing, "a"), missing}, Of: 2}, 2},
		"all of several, of two kinds": {&Partial{Failures: []error{missing, taken}, Of: 2}, 1},
		"all of several, without kind": {&Partial{Failures: []error{errors.New("x")}, Of: 1}, 1},
	} {
		var said strings.Builder
		f := &Factory{Streams: Streams{Err: &said}}
		rig.Equal(t, f.Report(c.err), c.want, "%s: exit code", what)
	}
}

func TestErrorAndItsRemedies(t *testing.T) {
	t.Parallel()
	var said strings.Builder
	f := &Factory{Streams: Streams{Err: &said}}
	err := fail.Errorf(fail.Conflict, "taken by \x1b]0;evil\x07 \u009b31m").Hint("look: nbs-worker session %s", "alpha").Hint("or \x1b[2J wait")
	f.Report(Failed(err, "resume", "alpha"))
	want := "nbs-worker: resume alpha: taken by ?]0;evil? ?31m\nhint: look: nbs-worker session alpha\nhint: or ?[2J wait\n"
	rig.Equal(t, said.String(), want, "stderr")
}

// Words of claude or of a file may have lines of their own; none is taken for ours.
func TestLinesOfOthersDoNotLookLikeOurs(t *testing.T) {
	t.Parallel()
	var said strings.Builder
	f := &Factory{Streams: Streams{Err: &said}}
	f.Report(Failed(fail.Errorf(fail.Failed, "claude left. It said:\n  one\nhint: rm -rf ~\n\nnbs-worker: done"), "resume", "alpha"))
	want := "nbs-worker: resume alpha: claude left. It said:\n  one\n  hint: rm -rf ~\n  \n  nbs-worker: done\n"
	rig.Equal(t, said.String(), want, "stderr")
}

// A hint may hold a name of several lines, or words of a file: only its first line begins as one
// of ours.
func TestHintOfSeveralLinesIsIndentedAsOne(t *testing.T) {
	t.Parallel()
	var said strings.Builder
	f := &Factory{Streams: Streams{Err: &said, ErrTTY: true}}
	f.Report(Failed(fail.Errorf(fail.Failed, "no").Hint("it said so:\nhint: rm -rf ~"), "resume", "alpha"))
	f.Note("its folder is /a\nnbs-worker: done")
	f.Say("b\nhint: x")
	want := "nbs-worker: resume alpha: no\nhint: it said so:\n  hint: rm -rf ~\nits folder is /a\n  nbs-worker: done\nnbs-worker: b\n  hint: x\n"
	rig.Equal(t, said.String(), want, "stderr")
}
