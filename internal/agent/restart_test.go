package agent_test

import (
	"strings"
	"testing"

	"nbs-worker/internal/agent"
)

func TestParseRestartWord(t *testing.T) {
	t.Parallel()
	for _, word := range agent.RestartWords {
		if got, err := agent.ParseRestartWord(string(word)); err != nil || got != word {
			t.Errorf("%s: %s, %v", word, got, err)
		}
	}
	if _, err := agent.ParseRestartWord("sometimes"); err == nil || agent.KindOf(err) != agent.BadInput || !strings.Contains(err.Error(), "no, on-failure, on-abnormal, always") {
		t.Errorf("%v", err)
	}
}
