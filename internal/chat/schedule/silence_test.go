package schedule

import (
	"testing"
	"time"

	"nbs-worker/internal/sim/rig"
	"nbs-worker/internal/store/conversations"
)

// How long claude may be silent in a scheduled turn: 0 is without limit, and nothing is the default.
func TestTurnTimeoutOfASchedule(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]time.Duration{"": 0, ", turn_timeout: 1h": time.Hour, ", turn_timeout: 0": conversations.Unlimited} {
		file := mustParse(t, "schedules: {a: {every: 1h, prompt: x"+text+"}}")
		rig.Equal(t, file.Entry("a").Silence, want, "%q", text)
	}
	_, err := Parse("schedules.yaml", []byte("schedules: {a: {every: 1h, prompt: x, turn_timeout: soon}}"))
	rig.Check(t, err != nil, "a time that is none")
}
