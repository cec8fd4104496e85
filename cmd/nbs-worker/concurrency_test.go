package main

import (
	"fmt"
	"strings"
	"sync"
	"syscall"
	"testing"
)

func TestManySpawnsAtOnceLoseNothing(t *testing.T) {
	m := standIn(t)
	const agents = 20
	results := make([]result, agents)
	var all sync.WaitGroup
	for i := range agents {
		all.Go(func() { results[i] = m.nbs("spawn", fmt.Sprintf("agent%d", i), "--prompt", "Remember 42.") })
	}
	all.Wait()
	for i, r := range results {
		m.check(r.code == 0, "agent%d: %s", i, r)
	}
	rows := strings.Count(m.ok("list"), "\trunning\t")
	m.check(rows == agents, "%d agents are listed", rows)
}

func TestInterruptedSpawnLeavesARecordThatExplainsAll(t *testing.T) {
	m := standIn(t, "start-delay=3s")
	spawn := m.begin("spawn", "alpha", "--prompt", "Remember 42.")
	m.waitClaude("alpha")
	m.kill(spawn.Process.Pid, syscall.SIGINT)
	m.mustRefuse(spawn.end(), 130, "interrupted; the start goes on")
	m.mustAnswer("alpha", "OK, I will remember 42.")
}
