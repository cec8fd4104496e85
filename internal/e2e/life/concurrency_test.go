package life

import (
	"fmt"
	"strings"
	"sync"
	"syscall"
	"testing"

	"nbs-worker/internal/e2e"
)

func TestManySpawnsAtOnceLoseNothing(t *testing.T) {
	m := standIn(t)
	const agents = 8
	results := make([]e2e.Result, agents)
	var all sync.WaitGroup
	for i := range agents {
		all.Go(func() { results[i] = m.NBS("spawn", fmt.Sprintf("agent%d", i), "--prompt", "Remember 42.") })
	}
	all.Wait()
	for i, r := range results {
		m.Check(r.Code == 0, "agent%d: %s", i, r)
	}
	rows := strings.Count(m.OK("list"), "\trunning\t")
	m.Check(rows == agents, "%d agents are listed", rows)
}

func TestInterruptedSpawnLeavesARecordThatExplainsAll(t *testing.T) {
	m := standIn(t, "start-delay=3s")
	spawn := m.Begin("spawn", "alpha", "--prompt", "Remember 42.")
	m.WaitClaude("alpha")
	m.Kill(spawn.Process.Pid, syscall.SIGINT)
	m.MustRefuse(spawn.End(), 130, "interrupted; the start continues")
	m.MustAnswer("alpha", "OK, I will remember 42.")
}
