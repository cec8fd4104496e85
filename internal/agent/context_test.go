package agent

import (
	"testing"
	"time"

	"nbs-worker/internal/fail"
	"nbs-worker/internal/sim/rig"
)

func TestBands(t *testing.T) {
	t.Parallel()
	for left, want := range map[int]Band{
		100: Healthy, 26: Healthy, 25: Low, 16: Low, 15: Low, 14: Critical, 10: Critical, 9: Floor, 0: Floor,
	} {
		rig.Equal(t, DefaultBands.Of(left), want, "%d %% left", left)
	}
	own, err := ParseBands(" 50, 30,1")
	rig.Check(t, err == nil && own == (Bands{Low: 50, Critical: 30, Floor: 1}) && own.Of(29) == Critical, "%+v, %v", own, err)
	if got, err := ParseBands("25,15,10"); got != DefaultBands || err != nil {
		t.Errorf("the default is %+v, %v", got, err)
	}
	for _, bad := range []string{"", "25", "25,15", "25,15,10,5", "10,15,25", "25,25,10", "25,15,0", "100,15,10", "a,b,c", "25;15;10", "25,-3,1", "25%,15%,10%", "99999999999999999999,2,1"} {
		got, err := ParseBands(bad)
		rig.Check(t, fail.KindOf(err) == fail.BadInput && err != nil && len(fail.HintsOf(err)) != 0, "%q: %+v, %v", bad, got, err)
	}
}

// A gauge counts only for the conversation and the start that the record names.
func TestGaugeOfAnotherStart(t *testing.T) {
	t.Parallel()
	used := 30
	gauge := &Gauge{Tokens: 300_000, Window: 1_000_000, UsedPercent: &used, CostUSD: 1.5, At: time.Unix(1, 0)}
	r := &Record{Spec: Spec{SessionID: "a"}, Process: &Process{Invocation: "i"}}
	for what, c := range map[string]struct {
		record *Record
		report Report
		want   *Gauge
	}{
		"its own":              {r, Report{Invocation: "i", SessionID: "a", Gauge: gauge}, gauge},
		"an earlier start":     {r, Report{Invocation: "h", SessionID: "a", Gauge: gauge}, nil},
		"another conversation": {r, Report{Invocation: "i", SessionID: "b", Gauge: gauge}, nil},
		"nothing said":         {r, Report{}, nil},
		"never started":        {&Record{Spec: Spec{SessionID: "a"}}, Report{SessionID: "a", Gauge: gauge}, nil},
	} {
		got := c.record.GaugeOf(c.report)
		rig.Check(t, got == c.want, "%s: %+v", what, got)
	}
	use := gauge.Context()
	rig.Check(t, use.LeftPercent() == 70 && use.Source == SaysStatusLine && *gauge.Cost() == (Cost{1.5, SaysStatusLine}), "%+v", use)
	for _, empty := range []*Gauge{nil, {Window: 1_000_000}, {UsedPercent: &used}} {
		use := empty.Context()
		rig.Check(t, use == nil, "%+v tells a level: %+v", empty, use)
	}
	rig.Check(t, (ContextUse{UsedPercent: 120}).LeftPercent() == 0, "less than nothing is left")
}
