package ui

import (
	"os"
	"testing"

	"nbs-worker/internal/host"
	"nbs-worker/internal/sim/rig"
)

// A program on the terminal of another machine names its host in what can be pasted there. What it starts does not.
func TestTheTerminalOfAnotherMachine(t *testing.T) {
	t.Setenv(host.AsVariable, "build1")
	f := &Factory{Streams: System()}
	rig.Equal(t, f.Pasteable("hint: nbs-worker resume bob"), "hint: nbs-worker --host build1 resume bob", "a hint")
	rig.Equal(t, f.Pasteable("hint: nbs-worker host list"), "hint: nbs-worker host list", "a hint about hosts")
	rig.Equal(t, os.Getenv(host.AsVariable), "", "what children get")
	t.Setenv(host.AsVariable, "$(id)")
	rig.Equal(t, System().Host, "", "a name that cannot be")
}
