package inspect

import (
	"os"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/platform/machine"
	"nbs-worker/internal/platform/machine/local"

	"nbs-worker/internal/sim/rig"
	"nbs-worker/internal/team/observe"
)

// Nothing is measured for a start without a process, for one that has ended, and for a process that is not its own.
// Without a first process, the sum would be that of the whole machine.
func TestOnlyAVerifiedProcessIsMeasured(t *testing.T) {
	t.Parallel()
	in := New(&observe.Project{Machine: local.New()})
	me, err := in.Project.Machine.Identify(os.Getpid())
	rig.Must(t, err)
	another := me
	another.StartTicks++
	for what, p := range map[string]*agent.Process{"none": nil, "not there yet": {}, "another one's pid": {Identity: another}} {
		got := in.usageOf(p)
		rig.Check(t, got == nil, "%s: %+v", what, got)
	}
	got := in.usageOf(&agent.Process{Identity: me})
	rig.Check(t, got != nil && got.Processes >= 1 && got.RSS > 0, "its own: %+v", got)
}

// If an agent has ended, or processes have left it, it was not idle: there is no sample.
func TestSampleIsOfAnAgentThatStayed(t *testing.T) {
	t.Parallel()
	used := func(seconds float64) *machine.Usage { return &machine.Usage{CPUSeconds: seconds} }
	for what, c := range map[string]struct {
		before, after *machine.Usage
		want          *Sample
	}{
		"nothing used":         {used(3), used(3), &Sample{Over: time.Second}},
		"some used":            {used(3), used(3.5), &Sample{Over: time.Second, CPU: 500 * time.Millisecond}},
		"ended before":         {nil, nil, nil},
		"ended in between":     {used(3), nil, nil},
		"some processes ended": {used(3), used(2), nil},
	} {
		diff := cmp.Diff(c.want, sampleOf(c.before, c.after, time.Second))
		rig.Check(t, diff == "", "%s: -want +got:\n%s", what, diff)
	}
}
