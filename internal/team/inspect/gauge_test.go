package inspect

import (
	"testing"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/claude/transcript"

	"nbs-worker/internal/sim/rig"
)

// The newer of the two sources counts. If they have the same time, the exact one counts.
func TestContextIsThatOfTheNewerWitness(t *testing.T) {
	t.Parallel()
	at := func(s int) time.Time { return time.Date(2026, 2, 20, 11, 44, s, 0, time.UTC) }
	gauge := func(used, s int) *agent.Gauge {
		return &agent.Gauge{Tokens: used * 10_000, Window: 1_000_000, UsedPercent: &used, At: at(s), Since: at(s)}
	}
	reply := func(used, s int) transcript.Level {
		return transcript.Level{Tokens: used * 10_000, Window: 1_000_000, At: at(s)}
	}
	const unknown = -1
	for what, c := range map[string]struct {
		gauge  *agent.Gauge
		level  transcript.Level
		want   int
		source string
	}{
		"nothing":                      {nil, transcript.Level{}, unknown, ""},
		"no transcript":                {gauge(16, 1), transcript.Level{}, 16, agent.SaysStatusLine},
		"no status line":               {nil, reply(16, 1), 16, agent.SaysTranscript},
		"the status line after it":     {gauge(16, 2), reply(15, 1), 16, agent.SaysStatusLine},
		"of one moment":                {gauge(16, 1), reply(15, 1), 16, agent.SaysStatusLine},
		"a reply since":                {gauge(16, 1), reply(17, 2), 17, agent.SaysTranscript},
		"a compaction since":           {gauge(92, 1), transcript.Level{At: at(2)}, unknown, ""},
		"a status line after that":     {gauge(0, 3), transcript.Level{At: at(2)}, 0, agent.SaysStatusLine},
		"one that repeats the level":   {repeated(gauge(16, 1), at(3)), reply(15, 2), 16, agent.SaysStatusLine},
		"and is from before it":        {repeated(gauge(92, 1), at(3)), transcript.Level{At: at(2)}, unknown, ""},
		"a start without a reply":      {&agent.Gauge{Window: 1_000_000, At: at(2)}, reply(15, 1), 15, agent.SaysTranscript},
		"a transcript without a clock": {gauge(16, 1), transcript.Level{Tokens: 1, Window: 2}, 16, agent.SaysStatusLine},
	} {
		got := contextOf(c.gauge, c.level)
		if (got == nil) != (c.want == unknown) || got != nil && (got.UsedPercent != c.want || got.Source != c.source) {
			t.Errorf("%s: %+v; want %d %s", what, got, c.want, c.source)
		}
	}
}

func repeated(gauge *agent.Gauge, at time.Time) *agent.Gauge {
	gauge.At = at
	return gauge
}

func TestCostIsTheLargerSum(t *testing.T) {
	t.Parallel()
	small, large := 0.25, 1.5
	for what, c := range map[string]struct {
		gauge *agent.Gauge
		level transcript.Level
		want  *agent.Cost
	}{
		"nothing":                  {nil, transcript.Level{}, nil},
		"the status line":          {&agent.Gauge{CostUSD: small}, transcript.Level{}, &agent.Cost{USD: small, Source: agent.SaysStatusLine}},
		"the transcript":           {nil, transcript.Level{CostUSD: &small}, &agent.Cost{USD: small, Source: agent.SaysTranscript}},
		"more since the writing":   {&agent.Gauge{CostUSD: large}, transcript.Level{CostUSD: &small}, &agent.Cost{USD: large, Source: agent.SaysStatusLine}},
		"just resumed, none new":   {&agent.Gauge{}, transcript.Level{CostUSD: &small}, &agent.Cost{USD: small, Source: agent.SaysTranscript}},
		"the same, said by claude": {&agent.Gauge{CostUSD: small}, transcript.Level{CostUSD: &small}, &agent.Cost{USD: small, Source: agent.SaysStatusLine}},
	} {
		got := costOf(c.gauge, c.level)
		rig.Check(t, (got == nil) == (c.want == nil) && (got == nil || *got == *c.want), "%s: %+v; want %+v", what, got, c.want)
	}
}
