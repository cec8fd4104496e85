package local

import (
	"context"
	"errors"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/platform/machine"
	"nbs-worker/internal/sim/rig"
)

const (
	longGrace  = 5 * time.Minute // not to be used up, on any machine
	shortGrace = 50 * time.Millisecond
)

func open(t *testing.T, id agent.Identity) machine.Process {
	t.Helper()
	h, liveness, err := here.Open(id)
	if err != nil || liveness != machine.Alive {
		t.Fatalf("Open: %d, %v", liveness, err)
	}
	t.Cleanup(func() { _ = h.Close() })
	return h
}

func TestStopEndsByTerm(t *testing.T) {
	t.Parallel()
	c := startReady(t, "stay")
	rig.Must(t, here.StopAll(t.Context(), []agent.Identity{c.id}, longGrace))
	wantLiveness(t, c.id, machine.Gone)
	by := c.EndedBy()
	rig.Check(t, by == syscall.SIGTERM, "ended by %v; want TERM", by)
	err := here.StopAll(t.Context(), []agent.Identity{c.id}, longGrace)
	rig.Check(t, err == nil, "stop of what has gone: %v", err)
}

func TestStopKillsAfterTheGrace(t *testing.T) {
	t.Parallel()
	c := startReady(t, "ignore-term")
	rig.Must(t, here.StopAll(t.Context(), []agent.Identity{c.id}, shortGrace))
	by := c.EndedBy()
	rig.Check(t, by == syscall.SIGKILL, "ended by %v; want KILL", by)
}

func TestStopEndsAStoppedProcessByTerm(t *testing.T) {
	t.Parallel()
	c := startReady(t, "stay")
	rig.Must(t, c.Process.Signal(syscall.SIGSTOP))
	rig.Eventually(t, "the child is stopped", func() bool { return here.Halted(c.id.PID) })
	wantLiveness(t, c.id, machine.Alive)
	rig.Must(t, here.StopAll(t.Context(), []agent.Identity{c.id}, longGrace))
	by := c.EndedBy()
	rig.Check(t, by == syscall.SIGTERM, "ended by %v; want TERM", by)
}

func TestStopGoesOnAfterAnInterrupt(t *testing.T) {
	t.Parallel()
	c := startReady(t, "ignore-term")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	rig.Must(t, here.StopAll(ctx, []agent.Identity{c.id}, shortGrace))
	wantLiveness(t, c.id, machine.Gone)
}

func TestStopSignalsNobodyElse(t *testing.T) {
	t.Parallel()
	c := startReady(t, "stay")
	for why, edit := range map[string]func(*agent.Identity){
		"another host":      func(id *agent.Identity) { id.Host, id.BootID = "elsewhere", "x" },
		"another namespace": func(id *agent.Identity) { id.PIDNS++ },
	} {
		id := c.id
		edit(&id)
		err := here.StopAll(t.Context(), []agent.Identity{id}, shortGrace)
		rig.Check(t, err != nil && strings.Contains(err.Error(), "another host"), "%s: %v; want a refusal", why, err)
	}
	for why, edit := range map[string]func(*agent.Identity){
		"a reused pid": func(id *agent.Identity) { id.StartTicks-- },
		"another boot": func(id *agent.Identity) { id.BootID = "x" },
		"no pid":       func(id *agent.Identity) { id.PID = 0 },
	} {
		id := c.id
		edit(&id)
		err := here.StopAll(t.Context(), []agent.Identity{id}, shortGrace)
		rig.Check(t, err == nil, "%s: %v; want nothing to do", why, err)
	}
	wantLiveness(t, c.id, machine.Alive)
}

func TestStopAllGivesOneGraceToAll(t *testing.T) {
	t.Parallel()
	deaf, gentle, foreign := startReady(t, "ignore-term"), startReady(t, "stay"), startReady(t, "stay")
	reused, elsewhere := gentle.id, foreign.id
	reused.StartTicks++
	elsewhere.Host, elsewhere.BootID = "elsewhere", "x"
	err := here.StopAll(t.Context(), []agent.Identity{deaf.id, gentle.id, reused, elsewhere}, shortGrace)
	rig.Check(t, err != nil && strings.Contains(err.Error(), "another host"), "StopAll = %v; want the refusal of one", err)
	wantLiveness(t, deaf.id, machine.Gone)
	wantLiveness(t, gentle.id, machine.Gone)
	wantLiveness(t, foreign.id, machine.Alive)
	err = here.StopAll(t.Context(), nil, shortGrace)
	rig.Check(t, err == nil, "StopAll of nobody: %v", err)
}

func TestSignalReachesTheProcess(t *testing.T) {
	t.Parallel()
	c := startReady(t, "stay")
	h := open(t, c.id)
	rig.Must(t, h.Signal(unix.SIGTERM)) // HUP may be ignored, under nohup
	rig.Must(t, h.Wait(t.Context()))
	by := c.EndedBy()
	rig.Check(t, by == syscall.SIGTERM, "ended by %v; want TERM", by)
	err := h.Signal(unix.SIGTERM)
	rig.Check(t, err == nil, "a signal to what has ended: %v; want no error", err)
	err = h.Wait(t.Context())
	rig.Check(t, err == nil, "a second wait: %v", err)
}

func TestWaitEndsWithItsContext(t *testing.T) {
	t.Parallel()
	c := startReady(t, "stay")
	h := open(t, c.id)
	ctx, cancel := context.WithTimeout(t.Context(), shortGrace)
	defer cancel()
	err := h.Wait(ctx)
	rig.Check(t, errors.Is(err, context.DeadlineExceeded), "Wait = %v; want the context's error", err)
	wantLiveness(t, c.id, machine.Alive)
}
