package machine_test

import (
	"errors"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/platform/machine"
	"nbs-worker/internal/platform/machine/fake"
	"nbs-worker/internal/sim/rig"
)

// Each test runs on a machine like Linux and on one like macOS.
func TestMain(m *testing.M) { os.Exit(rig.Tight(fake.OnEach(m))) }

func pidsOf(ids []agent.Identity) []int {
	return agent.Mapped(ids, func(id agent.Identity) int { return id.PID })
}

// family is a table with a shell, its claude, that one's tool, and a process of another user with the tool's mark.
func family() *fake.Machine {
	table := fake.New()
	table.Add(1, fake.Process{Name: "init"})
	table.Add(10, fake.Process{Parent: 1, Name: "sh", Args: []string{"sh"}})
	table.Add(12, fake.Process{Parent: 10, Name: "claude", Args: []string{"claude", "--model", "opus"}, Env: []string{"A=b", "MARK=i"}, Folder: "/srv"})
	table.Add(11, fake.Process{Parent: 12, Name: "cat", Env: []string{"MARK=i"}})
	table.Add(13, fake.Process{Parent: 1, Name: "cat", Env: []string{"MARK=i"}, Owner: 4711})
	return table
}

func TestWhoIsAboveAndBelow(t *testing.T) {
	t.Parallel()
	table := family()
	m := table.Machine()
	below, err := m.Descendants(10)
	rig.Check(t, err == nil && slices.Equal(pidsOf(below), []int{12, 11}), "below: %v, %v", below, err)
	rig.Check(t, slices.Equal(m.AncestorsOf(11), []int{11, 12, 10, 1}), "above: %v", m.AncestorsOf(11))
	carrying, err := m.Carrying("MARK", "i")
	shown := []int{11, 12}
	if table.Mac {
		shown = nil
	}
	rig.Check(t, err == nil && slices.Equal(pidsOf(carrying), shown), "carrying: %v, %v", carrying, err)
	found, err := m.Find("claude", func(words []string) bool { return words[0] == "claude" })
	rig.Check(t, err == nil && slices.Equal(pidsOf(found), []int{12}), "found: %v, %v", found, err)
	table.Mac = true
	carrying, err = m.Carrying("MARK", "i")
	_, known := m.Environ(12)
	rig.Check(t, err == nil && len(carrying) == 0 && errors.Is(known, machine.ErrUnknown), "of hidden environments: %v, %v, %v", carrying, err, known)
}

// A process that has just begun a namespace of its own can be asked a moment later. One that cannot be asked is an error,
// unless it is another user's.
func TestWhoUsesAFolder(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		table := family()
		table.Add(14, fake.Process{Folder: "/srv/sub", Begun: time.Now().Add(time.Second / 2)})
		table.Add(15, fake.Process{Opened: []string{"/srv/log"}})
		table.Add(16, fake.Process{Folder: "/srv", Owner: 4711, Begun: time.Now().Add(time.Hour)})
		found, err := table.Machine().In(t.Context(), "/srv")
		rig.Check(t, err == nil && slices.Equal(found, []machine.Use{{PID: 12}, {PID: 14}, {PID: 15, File: "/srv/log"}}), "%v, %v", found, err)
		table.Add(17, fake.Process{Begun: time.Now().Add(time.Hour)})
		_, err = table.Machine().In(t.Context(), "/srv")
		rig.Check(t, errors.Is(err, os.ErrPermission), "%v", err)
	})
}

// Who gets the pid of a process that was asked for is another one.
func TestPidThatIsReused(t *testing.T) {
	t.Parallel()
	table := family()
	m := table.Machine()
	id, err := m.Identify(12)
	rig.Must(t, err)
	table.End(12)
	rig.Check(t, m.IsGone(id) && m.HasEnded(id), "it has ended")
	table.Add(12, fake.Process{Birth: id.StartTicks + 1, Ending: true})
	rig.Check(t, m.IsGone(id) && m.IsEnding(12), "its pid is another one's")
	rig.Must(t, m.StopAll(t.Context(), []agent.Identity{id}, time.Minute))
	rig.Check(t, len(table.Signals(12)) == 0, "the other one was sent %v", table.Signals(12))
}

// A process that does not heed TERM is killed after the grace, and one of another machine is left alone.
func TestStopAll(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		table := family()
		table.Ignores = true
		m := table.Machine()
		deaf, err := m.Identify(11)
		rig.Must(t, err)
		elsewhere, err := m.Identify(12)
		rig.Must(t, err)
		elsewhere.Host, elsewhere.BootID = "elsewhere", "another"
		began := time.Now()
		err = m.StopAll(t.Context(), []agent.Identity{deaf, elsewhere}, time.Minute)
		rig.Check(t, err != nil && strings.Contains(err.Error(), "another host"), "%v", err)
		rig.Check(t, slices.Equal(table.Signals(11), []syscall.Signal{syscall.SIGTERM, syscall.SIGCONT, syscall.SIGKILL}), "%v", table.Signals(11))
		rig.Check(t, m.IsGone(deaf) && time.Since(began) == time.Minute && len(table.Signals(12)) == 0, "after %s; %v", time.Since(began), table.Signals(12))
	})
}
