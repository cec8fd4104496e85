package fail_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"testing"

	"github.com/google/go-cmp/cmp"

	"nbs-worker/internal/fail"
	"nbs-worker/internal/sim/rig"
)

func TestErrorfWrapsAndReads(t *testing.T) {
	t.Parallel()
	err := fail.Errorf(fail.NotFound, "read %s: %w", "x", fs.ErrNotExist)
	got := err.Error()
	rig.Check(t, got == "read x: file does not exist", "Error() = %q", got)
	rig.Check(t, errors.Is(err, fs.ErrNotExist), "the cause is lost")
}

func TestKindOf(t *testing.T) {
	t.Parallel()
	conflict := fail.Errorf(fail.Conflict, "taken")
	missing := fail.Errorf(fail.NotFound, "gone")
	for what, c := range map[string]struct {
		err  error
		want fail.Kind
	}{
		"plain":                   {errors.New("x"), fail.Failed},
		"foreign":                 {context.DeadlineExceeded, fail.Failed},
		"itself":                  {conflict, fail.Conflict},
		"wrapped":                 {fmt.Errorf("resume alpha: %w", conflict), fail.Conflict},
		"outermost of two":        {fail.Errorf(fail.BadInput, "damaged: %w", missing), fail.BadInput},
		"joined":                  {errors.Join(errors.New("x"), conflict), fail.Conflict},
		"first of two joined":     {errors.Join(missing, conflict), fail.NotFound},
		"wrapped twice and joint": {fmt.Errorf("a: %w", errors.Join(fmt.Errorf("b: %w", missing))), fail.NotFound},
	} {
		rig.Equal(t, fail.KindOf(c.err), c.want, "%s: KindOf", what)
	}
}

// The kinds are the published exit codes.
func TestKindsAreTheExitCodes(t *testing.T) {
	t.Parallel()
	got := []fail.Kind{
		fail.Failed, fail.NotFound, fail.TimedOut, fail.BadInput, fail.Conflict,
		fail.Unfit, fail.Partial, fail.Held, fail.Interrupted,
	}
	diff := cmp.Diff([]fail.Kind{1, 2, 3, 4, 5, 6, 7, 8, 130}, got)
	rig.Check(t, diff == "", "-want +got:\n%s", diff)
}

func TestHintsOf(t *testing.T) {
	t.Parallel()
	inner := fail.Errorf(fail.NotFound, "gone").Hint("look in %s", "the backup").Hint("or begin anew")
	outer := fail.Errorf(fail.Failed, "resume: %w", fmt.Errorf("deep: %w", inner)).Hint("outer")
	other := fail.Errorf(fail.Conflict, "x").Hint("other")
	for what, c := range map[string]struct {
		err  error
		want []string
	}{
		"none":                    {nil, nil},
		"plain":                   {errors.New("x"), nil},
		"without hints":           {fail.Errorf(fail.Failed, "x"), nil},
		"own":                     {inner, []string{"look in the backup", "or begin anew"}},
		"outermost first":         {outer, []string{"outer", "look in the backup", "or begin anew"}},
		"joined behind a plain":   {errors.Join(errors.New("x"), other), []string{"other"}},
		"each of those joined":    {errors.Join(other, outer), []string{"other", "outer", "look in the backup", "or begin anew"}},
		"joined, then wrapped":    {fmt.Errorf("verb: %w", errors.Join(errors.New("x"), other, inner)), []string{"other", "look in the backup", "or begin anew"}},
		"wrapped by two verbs %w": {fmt.Errorf("%w and %w", other, inner), []string{"other", "look in the backup", "or begin anew"}},
	} {
		diff := cmp.Diff(c.want, fail.HintsOf(c.err))
		rig.Check(t, diff == "", "%s: -want +got:\n%s", what, diff)
	}
}

func TestHintsOfLeavesTheErrorAlone(t *testing.T) {
	t.Parallel()
	inner := fail.Errorf(fail.Failed, "in").Hint("i")
	outer := fail.Errorf(fail.Failed, "out: %w", inner).Hint("o1").Hint("o2").Hint("o3")
	first, again := fail.HintsOf(outer), fail.HintsOf(outer)
	diff := cmp.Diff(first, again)
	rig.Check(t, diff == "" && len(outer.Hints) == 3, "asking twice gives different hints: %s, %v", diff, outer.Hints)
}
