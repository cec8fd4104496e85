package ui

import (
	"testing"

	"nbs-worker/internal/sim/rig"
)

func TestVerbWithoutPowersGetsNoProject(t *testing.T) {
	t.Parallel()
	_, err := (&Factory{Verb: "new"}).permitted(nil)
	rig.Check(t, err != nil, "a verb without powers got a project")
}
