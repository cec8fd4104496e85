package chat

import (
	"testing"

	"nbs-worker/internal/platform/machine/fake"
	"nbs-worker/internal/sim/rig"
	"nbs-worker/internal/team/observe"
	"nbs-worker/internal/team/supervisor"
)

// The setup offers the service that the machine can run, unless a flag names another.
func TestSetupOffersTheServiceOfTheMachine(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		isMac bool
		flags setupOptions
		want  string
	}{
		{true, setupOptions{}, launchd},
		{true, setupOptions{unit: true}, systemd},
		{false, setupOptions{unit: true}, systemd},
		{false, setupOptions{agent: true}, launchd},
	} {
		it := fake.New()
		it.Mac = c.isMac
		w := &setup{setupOptions: &c.flags, s: &supervisor.Supervisor{Project: &observe.Project{Machine: it.Machine()}}}
		rig.Equal(t, w.manager(), c.want, "on a Mac: %t, flags %+v", c.isMac, c.flags)
	}
}
