package local

import (
	"errors"
	"os"
	"os/exec"
	"syscall"
	"testing"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/platform/machine"
	"nbs-worker/internal/sim/rig"
)

func TestSelfIsAlive(t *testing.T) {
	t.Parallel()
	self, err := here.Self()
	rig.Must(t, err)
	rig.Check(t, self.PID == os.Getpid() && self.StartTicks != 0 && self.BootID != "" && self.PIDNS != 0 && self.Host != "", "Self() = %+v; want all fields", self)
	wantLiveness(t, self, machine.Alive)
}

func TestCheckSeesOneEdit(t *testing.T) {
	t.Parallel()
	c := startReady(t, "stay")
	for why, edit := range map[string]struct {
		change   func(*agent.Identity)
		want     machine.Liveness
		rebooted bool
	}{
		"nothing edited":         {func(*agent.Identity) {}, machine.Alive, false},
		"the pid was reused":     {func(id *agent.Identity) { id.StartTicks-- }, machine.Gone, false},
		"it will be reused":      {func(id *agent.Identity) { id.StartTicks++ }, machine.Gone, false},
		"another boot":           {func(id *agent.Identity) { id.BootID = "another" }, machine.Gone, true},
		"no boot recorded":       {func(id *agent.Identity) { id.BootID = "" }, machine.Gone, false},
		"another namespace":      {func(id *agent.Identity) { id.PIDNS++ }, machine.Foreign, false},
		"the host was renamed":   {func(id *agent.Identity) { id.Host = "elsewhere" }, machine.Alive, false},
		"another host and boot":  {func(id *agent.Identity) { id.Host, id.BootID = "elsewhere", "x" }, machine.Foreign, false},
		"no pid":                 {func(id *agent.Identity) { id.PID = 0 }, machine.Gone, false},
		"negative pid":           {func(id *agent.Identity) { id.PID = -1 }, machine.Gone, false},
		"pid of the parent":      {func(id *agent.Identity) { id.PID = os.Getpid() }, machine.Gone, false},
		"pid beyond all others":  {func(id *agent.Identity) { id.PID = 1 << 30 }, machine.Gone, false},
		"identity of the record": {func(id *agent.Identity) { *id = agent.Identity{} }, machine.Gone, false},
	} {
		t.Run(why, func(t *testing.T) {
			t.Parallel()
			id := c.id
			edit.change(&id)
			wantLiveness(t, id, edit.want)
			rig.Equal(t, here.Rebooted(id), edit.rebooted, "Rebooted")
			h, liveness, err := here.Open(id)
			rig.Check(t, liveness == edit.want && err == nil && (h != nil) == (edit.want == machine.Alive), "Open = %v, %d, %v; want %d", h, liveness, err, edit.want)
			if h != nil {
				_ = h.Close()
			}
		})
	}
}

func TestAZombieIsGone(t *testing.T) {
	t.Parallel()
	c := startReady(t, "stay")
	rig.Must(t, c.Process.Kill())
	rig.Eventually(t, "the child is a zombie", func() bool {
		stat, err := kernel{}.Stat(c.Process.Pid)
		return err == nil && stat.Gone
	})
	if err := syscall.Kill(c.Process.Pid, 0); err != nil {
		t.Fatalf("kill(pid, 0) finds no zombie: %v", err)
	}
	wantLiveness(t, c.id, machine.Gone)
	_, err := here.Identify(c.Process.Pid)
	rig.Check(t, errors.Is(err, os.ErrNotExist), "Identify of a zombie: %v; want not exist", err)
	if args, err := here.Cmdline(c.Process.Pid); len(args) != 0 || err != nil {
		t.Errorf("Cmdline of a zombie = %q, %v; want none", args, err)
	}
	if h, liveness, err := here.Open(c.id); h != nil || liveness != machine.Gone || err != nil {
		t.Errorf("Open of a zombie = %v, %d, %v; want gone", h, liveness, err)
	}
}

func TestAReapedProcessIsGone(t *testing.T) {
	t.Parallel()
	c := startReady(t, "stay")
	_ = c.Process.Kill()
	_ = c.Wait()
	wantLiveness(t, c.id, machine.Gone)
	_, err := here.Identify(c.id.PID)
	rig.Check(t, errors.Is(err, os.ErrNotExist), "Identify: %v; want not exist", err)
	_, err = here.Cmdline(c.id.PID)
	rig.Check(t, errors.Is(err, os.ErrNotExist), "Cmdline: %v; want not exist", err)
	_, there := here.Variable(c.id.PID, "PATH")
	rig.Check(t, !there, "a dead process has an environment")
}

// From the moment at which a kill was sent nobody takes the process for one that goes on,
// however long the kernel needs to end it.
func TestAKilledProcessIsEnding(t *testing.T) {
	t.Parallel()
	const tries = 20 // the kernel may be quick
	for range tries {
		c := startReady(t, "stay")
		if liveness, ending, err := here.CheckEnding(c.id); liveness != machine.Alive || ending || err != nil {
			t.Fatalf("before: %d, %t, %v", liveness, ending, err)
		}
		rig.Check(t, !here.HasEnded(c.id), "it has ended before the kill")
		rig.Must(t, c.Process.Kill())
		rig.Check(t, here.HasEnded(c.id), "it goes on after the kill")
		for liveness := machine.Alive; liveness == machine.Alive; {
			var ending bool
			var err error
			if liveness, ending, err = here.CheckEnding(c.id); liveness == machine.Alive && !ending || err != nil {
				t.Fatalf("after the kill: %d, %t, %v", liveness, ending, err)
			}
		}
		_ = c.Wait()
	}
}

// A process that was killed is as good as gone before its parent has waited for it.
func TestWhoIsEnding(t *testing.T) {
	t.Parallel()
	child := rig.StartChild(t, exec.Command("cat"))
	rig.Check(t, !here.IsEnding(child.Process.Pid) && !here.IsEnding(os.Getpid()), "one that lives is said to end")
	rig.Must(t, child.Process.Kill())
	rig.Check(t, here.IsEnding(child.Process.Pid), "one that was killed is said to live on")
	_ = child.Wait()
	rig.Check(t, here.IsEnding(child.Process.Pid), "one that is no more is said to live on")
}

func TestHalted(t *testing.T) {
	cmd := rig.StartChild(t, exec.Command("cat"))
	rig.Check(t, !here.Halted(cmd.Process.Pid), "it runs")
	rig.Must(t, cmd.Process.Signal(syscall.SIGSTOP))
	rig.Eventually(t, "it is stopped", func() bool { return here.Halted(cmd.Process.Pid) })
	rig.Must(t, cmd.Process.Signal(syscall.SIGCONT))
	rig.Eventually(t, "it goes on", func() bool { return !here.Halted(cmd.Process.Pid) })
	rig.Check(t, !here.Halted(-1), "nobody is stopped")
}
