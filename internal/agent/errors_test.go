package agent_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"testing"

	"github.com/google/go-cmp/cmp"

	"nbs-worker/internal/agent"

	"nbs-worker/internal/sim/rig"
)

func TestErrorfWrapsAndReads(t *testing.T) {
	t.Parallel()
	err := agent.Errorf(agent.NotFound, "read %s: %w", "x", fs.ErrNotExist)
	got := err.Error()
	rig.Check(t, got == "read x: file does not exist", "Error() = %q", got)
	rig.Check(t, errors.Is(err, fs.ErrNotExist), "the cause is lost")
}

func TestKindOf(t *testing.T) {
	t.Parallel()
	conflict := agent.Errorf(agent.Conflict, "taken")
	missing := agent.Errorf(agent.NotFound, "gone")
	for what, c := range map[string]struct {
		err  error
		want agent.Kind
	}{
		"plain":                   {errors.New("x"), agent.Failed},
		"foreign":                 {context.DeadlineExceeded, agent.Failed},
		"itself":                  {conflict, agent.Conflict},
		"wrapped":                 {fmt.Errorf("resume alpha: %w", conflict), agent.Conflict},
		"outermost of two":        {agent.Errorf(agent.BadInput, "damaged: %w", missing), agent.BadInput},
		"joined":                  {errors.Join(errors.New("x"), conflict), agent.Conflict},
		"first of two joined":     {errors.Join(missing, conflict), agent.NotFound},
		"wrapped twice and joint": {fmt.Errorf("a: %w", errors.Join(fmt.Errorf("b: %w", missing))), agent.NotFound},
	} {
		rig.Equal(t, agent.KindOf(c.err), c.want, "%s: KindOf", what)
	}
}

// The kinds are the published exit codes.
func TestKindsAreTheExitCodes(t *testing.T) {
	t.Parallel()
	got := []agent.Kind{
		agent.Failed, agent.NotFound, agent.TimedOut, agent.BadInput, agent.Conflict,
		agent.Unfit, agent.Partial, agent.Held, agent.Interrupted,
	}
	diff := cmp.Diff([]agent.Kind{1, 2, 3, 4, 5, 6, 7, 8, 130}, got)
	rig.Check(t, diff == "", "-want +got:\n%s", diff)
}

func TestHintsOf(t *testing.T) {
	t.Parallel()
	inner := agent.Errorf(agent.NotFound, "gone").Hint("look in %s", "the backup").Hint("or begin anew")
	outer := agent.Errorf(agent.Failed, "resume: %w", fmt.Errorf("deep: %w", inner)).Hint("outer")
	other := agent.Errorf(agent.Conflict, "x").Hint("other")
	for what, c := range map[string]struct {
		err  error
		want []string
	}{
		"none":                    {nil, nil},
		"plain":                   {errors.New("x"), nil},
		"without hints":           {agent.Errorf(agent.Failed, "x"), nil},
		"own":                     {inner, []string{"look in the backup", "or begin anew"}},
		"outermost first":         {outer, []string{"outer", "look in the backup", "or begin anew"}},
		"joined behind a plain":   {errors.Join(errors.New("x"), other), []string{"other"}},
		"each of those joined":    {errors.Join(other, outer), []string{"other", "outer", "look in the backup", "or begin anew"}},
		"joined, then wrapped":    {fmt.Errorf("verb: %w", errors.Join(errors.New("x"), other, inner)), []string{"other", "look in the backup", "or begin anew"}},
		"wrapped by two verbs %w": {fmt.Errorf("%w and %w", other, inner), []string{"other", "look in the backup", "or begin anew"}},
	} {
		diff := cmp.Diff(c.want, agent.HintsOf(c.err))
		rig.Check(t, diff == "", "%s: -want +got:\n%s", what, diff)
	}
}

func TestHintsOfLeavesTheErrorAlone(t *testing.T) {
	t.Parallel()
	inner := agent.Errorf(agent.Failed, "in").Hint("i")
	outer := agent.Errorf(agent.Failed, "out: %w", inner).Hint("o1").Hint("o2").Hint("o3")
	first, again := agent.HintsOf(outer), agent.HintsOf(outer)
	diff := cmp.Diff(first, again)
	rig.Check(t, diff == "" && len(outer.Hints) == 3, "asking twice gives different hints: %s, %v", diff, outer.Hints)
}
