package trust

import (
	"os"
	"strings"
	"testing"

	"nbs-worker/internal/fail"
	"nbs-worker/internal/sim/rig"
)

func TestLimits(t *testing.T) {
	t.Parallel()
	home := Home(t.TempDir())
	mustBe := func(what string, want Limits) {
		t.Helper()
		got, err := home.Limits()
		rig.Check(t, got == want && err == nil, "%s: %+v, %v; want %+v", what, got, err, want)
	}
	write := func(text string) {
		t.Helper()
		rig.Must(t, os.WriteFile(home.Path(limitsFile), []byte(text), 0o600))
	}
	mustBe("no file", Limits{Agents: 50, Depth: 3})
	write(`{"agents": 7}`)
	mustBe("one of them", Limits{Agents: 7, Depth: 3})
	write(`{"agents": 0, "depth": 9}`)
	mustBe("none at all", Limits{Agents: 0, Depth: 9})
	for _, wrong := range []string{"", "null null", "[]", `{"agents": -1}`, `{"agents": 1.5}`, `{"agent": 5}`, `{"agents": 5} x`, strings.Repeat(" ", limitsBytes+1)} {
		write(wrong)
		_, err := home.Limits()
		rig.Check(t, err != nil && fail.KindOf(err) == fail.Unfit && len(fail.HintsOf(err)) != 0, "%.20s: %v; want unfit, and a way out", wrong, err)
	}
}
