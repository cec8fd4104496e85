package inspect

import (
	"nbs-worker/internal/agent"
	"nbs-worker/internal/claude/transcript"
)

// contextOf returns how full a conversation is. The status line is exact, but stale if the transcript has a later
// reply or compaction. After a compaction it may repeat the old level, because claude may have started the call
// before.
func contextOf(gauge *agent.Gauge, level transcript.Level) *agent.ContextUse {
	use := gauge.Context()
	if use == nil {
		return level.Use()
	}
	told := gauge.At
	if level.Tokens == 0 {
		told = gauge.Since
	}
	if told.Before(level.At) {
		return level.Use()
	}
	return use
}

// costOf returns what a conversation cost. Both sources only grow, so the larger one is the newer.
func costOf(gauge *agent.Gauge, level transcript.Level) *agent.Cost {
	said, written := gauge.Cost(), level.Cost()
	if said == nil || written != nil && written.USD > said.USD {
		return written
	}
	return said
}
