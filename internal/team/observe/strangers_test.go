package observe

import (
	"os/exec"
	"testing"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/claude"
	"nbs-worker/internal/platform/machine/fake"
	"nbs-worker/internal/platform/machine/local"
	"nbs-worker/internal/sim/rig"
)

// A process that ends between two looks is still the agent's own; the next owner of its pid is not.
func TestOwnClaudeIsNoStrangerWhileItEnds(t *testing.T) {
	t.Parallel()
	table := fake.New()
	o := &Project{Machine: table.Machine()}
	id := table.Add(10, fake.Process{})
	r := &agent.Record{Process: &agent.Process{Invocation: agent.NewInvocation(), Identity: id}}
	table.End(10)
	renamed, reused, rebooted := id, id, id
	renamed.Host, reused.StartTicks, rebooted.BootID = "elsewhere", id.StartTicks+1, "another"
	for _, c := range []struct {
		seen agent.Identity
		own  bool
	}{{id, true}, {renamed, true}, {reused, false}, {rebooted, false}} {
		rig.Equal(t, o.ofThisStart(r, c.seen), c.own, "%+v: of this start", c.seen)
	}
}

// A child of the agent's claude shows claude's command line until its exec, and has no environment at that moment.
// It is not a stranger.
func TestChildrenThatBecomeProgramsAreNoStrangers(t *testing.T) {
	t.Parallel()
	r := &agent.Record{Spec: agent.Spec{SessionID: agent.NewSessionID()}, Process: &agent.Process{Invocation: agent.NewInvocation()}}
	shell := exec.Command("sh", "-c", "while :; do /bin/true; done", "--session-id", string(r.SessionID))
	shell.Args[0] = "claude"
	shell.Env = []string{agent.InvocationVariable + "=" + string(r.Process.Invocation)}
	o := &Project{Machine: local.New()}
	claudes := rig.StartChild(t, shell)
	id, err := o.Machine.Identify(claudes.Process.Pid)
	rig.Must(t, err)
	r.Process.Identity = id
	config, err := claude.ConfigAt(t.TempDir())
	rig.Must(t, err)
	for range 500 {
		found, err := o.unregisteredStrangers(r, config)
		rig.Must(t, err)
		if len(found) > 0 {
			t.Fatalf("%+v", found)
		}
	}
}
