package fake

import (
	"errors"
	"os"
	"testing"

	"nbs-worker/internal/platform/machine"
	"nbs-worker/internal/sim/rig"
)

// A fake Mac has births in microseconds, no pid namespaces, no cgroups, no list of children, and hides the environments of
// all programs but ours.
func TestLikeAMac(t *testing.T) {
	t.Parallel()
	table := New()
	table.Mac, table.Place.PIDNS = true, 0
	table.Add(1, Process{Name: "launchd"})
	server := table.AddServer(9, Process{Parent: 1})
	table.Add(10, Process{Parent: 9, Group: 10, Session: 10, Args: []string{"/usr/local/bin/nbs-worker", "run", "alpha"}, Env: []string{"A=b"}})
	claude := table.Add(11, Process{Parent: 10, Args: []string{"claude"}, Env: []string{"A=b"}})
	tool := table.Add(12, Process{Parent: 11, Group: 12, Args: []string{"/bin/zsh"}})
	m, k := table.Machine(), kernel{table}
	boot, err := m.BootTime()
	rig.Check(t, err == nil && claude.StartTicks > uint64(boot.UnixMicro()) && claude.PIDNS == 0, "%+v, %v", claude, err)
	rig.Equal(t, m.Name(server.PID), "tmux", "the name of a server")
	_, shown := m.Environ(10)
	_, hidden := m.Environ(11)
	_, cgroup := k.Cgroup(11)
	_, children := k.Children(11)
	rig.Check(t, shown == nil && errors.Is(hidden, machine.ErrUnknown) && errors.Is(cgroup, machine.ErrUnknown) && errors.Is(children, machine.ErrUnknown),
		"%v, %v, %v, %v", shown, hidden, cgroup, children)
	table.End(11)
	stat, err := k.Stat(tool.PID)
	rig.Check(t, err == nil && stat.Parent == 1 && stat.Group == 12 && stat.Session == 10, "an orphan: %+v, %v", stat, err)
	table.Add(12, Process{Birth: tool.StartTicks, Zombie: true})
	_, err = m.Identify(12)
	rig.Check(t, errors.Is(err, os.ErrNotExist), "a zombie: %v", err)
}

// A second run of the tests makes machines like macOS, and is left out after a failure.
func TestOnEach(t *testing.T) {
	var seen []bool
	code := 0
	run := func() int { seen = append(seen, New().Mac); return code }
	rig.Equal(t, OnEach(tests(run)).Run(), 0, "the code")
	code = 1
	rig.Equal(t, OnEach(tests(run)).Run(), 1, "the code of a failure")
	rig.Check(t, len(seen) == 3 && !seen[0] && seen[1] && !seen[2], "%v", seen)
}

type tests func() int

func (t tests) Run() int { return t() }
