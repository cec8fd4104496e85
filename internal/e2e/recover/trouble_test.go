package recover

import (
	"path/filepath"
	"testing"
	"time"
)

func TestSecretsOfAKilledVerbAreRemoved(t *testing.T) {
	m := standIn(t)
	m.OK("spawn", "alpha")
	launch := m.LaunchFolder()
	left := []string{filepath.Join(launch, "alpha.json"), filepath.Join(launch, ".alpha.json123")}
	m.putAt(left[0], `{"env":"c2VjcmV0"}`, 0)
	m.putAt(left[1], `{"env":"c2VjcmV0"}`, time.Hour)
	m.OK("stop", "alpha")
	m.Check(len(m.LaunchFiles()) == 0, "left: %q", m.LaunchFiles())
}
