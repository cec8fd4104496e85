package inspect

import (
	"nbs-worker/internal/agent"
	"nbs-worker/internal/claude/transcript"
)

// contextOf returns how full a conversation is. The status line is exact, but out of date
// when the transcript has a later reply or compaction.
func contextOf(gauge *agent.Gauge, level transcript.Level) *agent.ContextUse {
	if use := gauge.Context(); use != nil && !use.At.Before(level.At) {
		return use
	}
	return level.Use()
}

// costOf returns what a conversation cost. Both sources only grow: the larger is the newer.
func costOf(gauge *agent.Gauge, level transcript.Level) *agent.Cost {
	said, written := gauge.Cost(), level.Cost()
	if said == nil || written != nil && written.USD > said.USD {
		return written
	}
	return said
}
