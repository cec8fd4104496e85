package ops

import (
	"testing"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/app/cli/ui"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/team/recovery"
	"nbs-worker/internal/team/triage"
)

// Who comes back by itself is not well yet, and no repair of it has failed.
func TestOutcomeOfARecovery(t *testing.T) {
	t.Parallel()
	is := func(verdict triage.Verdict, state agent.State) (c recovery.Case) {
		c.After.Verdict, c.After.Level, c.After.View.Status.State = verdict, triage.LevelResume, state
		return c
	}
	well, heals, sick, held := is(triage.Idle, agent.Idle), is(triage.Dead, agent.Backoff), is(triage.Dead, agent.Dead), is(triage.Held, agent.Backoff)
	for what, c := range map[string]struct {
		cases []recovery.Case
		want  fail.Kind
	}{
		"well":                {[]recovery.Case{well}, 0},
		"heals":               {[]recovery.Case{heals}, fail.Partial},
		"one well, one heals": {[]recovery.Case{well, heals}, fail.Partial},
		"sick":                {[]recovery.Case{sick}, fail.Failed},
		"one sick, one heals": {[]recovery.Case{sick, heals}, fail.Partial},
		"one well, one sick":  {[]recovery.Case{well, sick}, fail.Partial},
		"waits for its limit": {[]recovery.Case{well, held}, fail.Held},
	} {
		if err := recovered(c.cases); c.want == 0 && err != nil || c.want != 0 && err != ui.ExitError(c.want) { //nolint:errorlint // it is no more than a code
			t.Errorf("%s: %v; want %d", what, err, c.want)
		}
	}
}
