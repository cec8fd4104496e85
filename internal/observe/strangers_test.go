package observe

import (
	"os/exec"
	"testing"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/proc"
	"nbs-worker/internal/sim/rig"
)

// What ends between two looks is still the agent's own, and who has its pid then is not.
func TestOwnClaudeIsNoStrangerWhileItEnds(t *testing.T) {
	t.Parallel()
	claude := rig.StartChild(t, exec.Command("cat"))
	id, err := proc.Identify(claude.Process.Pid)
	rig.Must(t, err)
	r := &agent.Record{Process: &agent.Process{Invocation: agent.NewInvocation(), Identity: id}}
	_ = claude.Process.Kill()
	_ = claude.Wait()
	renamed, reused, rebooted := id, id, id
	renamed.Host, reused.StartTicks, rebooted.BootID = "elsewhere", id.StartTicks+1, "another"
	for _, c := range []struct {
		seen agent.Identity
		own  bool
	}{{id, true}, {renamed, true}, {reused, false}, {rebooted, false}} {
		rig.Equal(t, ofThisStart(r, c.seen), c.own, "%+v: of this start", c.seen)
	}
}
