package agent_test

import (
	"strings"
	"testing"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/fail"

	"nbs-worker/internal/sim/rig"
)

func TestParseRestartWord(t *testing.T) {
	t.Parallel()
	for _, word := range agent.RestartWords {
		got, err := agent.ParseRestartWord(string(word))
		rig.Check(t, err == nil && got == word, "%s: %s, %v", word, got, err)
	}
	_, err := agent.ParseRestartWord("sometimes")
	rig.Check(t, err != nil && fail.KindOf(err) == fail.BadInput && strings.Contains(err.Error(), "no, on-failure, on-abnormal, always"), "%v", err)
}
