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
		if r.code != 0 {
			t.Errorf("agent%d: %s", i, r)
		}
	}
	if rows := strings.Count(m.ok("list"), "\trunning\t"); rows != agents {
		t.Errorf("%d agents are listed", rows)
	}
}

func TestInterruptedSpawnLeavesARecordThatExplainsAll(t *testing.T) {
	m := standIn(t, "start-delay=3s")
	spawn := m.begin("spawn", "alpha", "--prompt", "Remember 42.")
	m.waitClaude("alpha")
	m.kill(spawn.Process.Pid, syscall.SIGINT)
	m.mustRefuse(spawn.end(), 130, "interrupted; the start goes on")
	m.mustAnswer("alpha", "OK, I will remember 42.")
}

func TestKilledSpawnIsTakenOverByResume(t *testing.T) {
	m := standIn(t, "start-delay=2s")
	spawn := m.begin("spawn", "alpha", "--prompt", "Remember 42.")
	m.waitFor("the record is there", func() (bool, string) {
		r := m.nbs("session", "alpha")
		return r.code == 0, r.String()
	})
	_ = spawn.Process.Kill()
	_ = spawn.Wait()
	id := m.record("alpha")["session_id"].(string)
	m.waitFor("a resume goes through, or the first start did", func() (bool, string) {
		r := m.nbs("resume", "alpha")
		return r.code == 0 || strings.Contains(r.stderr, "runs already: idle"), r.String()
	})
	m.mustAnswer("alpha", "OK, I will remember 42.")
	if on := claudesOn(id); len(on) != 1 {
		t.Errorf("claudes on the conversation: %v", on)
	}
}
