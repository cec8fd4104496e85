package trial

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/claude"
	"nbs-worker/internal/claude/live"
	"nbs-worker/internal/platform/machine"
	"nbs-worker/internal/platform/tmux"
)

const (
	wait  = 20 * time.Second // an agent is ready within a second; a machine may be busy
	grace = 2 * time.Second  // the least time for what comes after that, or with the end
	every = 50 * time.Millisecond
)

// Seen is what a trial claude has done.
type Seen struct {
	Entry      live.Entry   // its last entry in the registry
	Registered bool         // it entered itself into the registry
	Heard      claude.Heard // from its hooks and its status line
	Screen     string       // at the end of the time; "" if it was ready before
}

// Claude starts a claude like that of an agent, in a folder below dir, watches what it does, and ends it.
func Claude(ctx context.Context, m *machine.Machine, dir, program string) (Seen, error) {
	dir = filepath.Join(dir, "probe")
	if err := os.Mkdir(dir, 0o700); err != nil {
		return Seen{}, err
	}
	p := probing{machine: m, grace: grace, Probe: claude.Probe{Dir: dir, Session: agent.NewSessionID()}}
	var err error
	if p.tmux, err = tmux.Scratch(dir); err != nil {
		return Seen{}, err
	}
	if err := p.Prepare(); err != nil {
		return Seen{}, err
	}
	defer func() { _ = p.tmux.KillServer(context.WithoutCancel(ctx)) }()
	if err := p.start(context.WithoutCancel(ctx), program); err != nil { // a half started claude could not be ended
		return Seen{}, err
	}
	p.watch(ctx)
	p.end(ctx)
	p.seen.Heard = p.Heard()
	return p.seen, nil
}

// probing is a trial claude.
type probing struct {
	claude.Probe
	machine *machine.Machine
	tmux    *tmux.Client
	pane    tmux.Pane
	first   agent.Identity // of the pane
	seen    Seen
	grace   time.Duration
}

func (p *probing) start(ctx context.Context, program string) error {
	err := p.tmux.NewSession(ctx, tmux.Spec{
		Name: "nbs-probe-live", Dir: p.Dir, Invocation: agent.NewInvocation(), Env: claude.ScratchVariables(p.Dir),
		Command: slices.Concat([]string{program}, p.Args()),
	})
	if err != nil {
		return err
	}
	panes, err := p.tmux.Panes(ctx)
	if len(panes) > 0 { // its program has not ended yet
		p.pane = panes[0]
	}
	p.first, _ = p.machine.Identify(p.pane.PID)
	return err
}

// watch waits until everything expected was seen, the time is over, or claude has ended. After it is ready, a claude
// gets as much time again: the machine may be busy.
func (p *probing) watch(ctx context.Context) {
	begun := time.Now()
	ctx, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	tick := time.Tick(every)
	var ready time.Time
	for {
		if entry, there := p.Registered(); there {
			p.seen.Entry, p.seen.Registered = entry, true
		}
		heard := p.Heard()
		if p.seen.Entry.Status == "idle" && heard.Started && ready.IsZero() {
			ready = time.Now()
			p.grace = max(p.grace, ready.Sub(begun))
		}
		if !ready.IsZero() && (heard.StatusLine || time.Since(ready) > p.grace) {
			return
		}
		select {
		case <-ctx.Done():
			p.seen.Screen, _ = p.tmux.Screen(context.WithoutCancel(ctx), p.pane.ID)
			return
		case <-tick:
		}
		if _, err := p.machine.Identify(p.pane.PID); err != nil {
			return
		}
	}
}

// end ends the tmux server, which hangs claude up as it would an agent. It then ends what still runs, in the way in
// which agents are ended.
func (p *probing) end(ctx context.Context) {
	ctx = context.WithoutCancel(ctx)
	started := []agent.Identity{p.first}
	if p.machine.IsAlive(p.first) {
		below, _ := p.machine.Descendants(p.first.PID)
		started = append(started, below...)
	}
	_ = p.tmux.KillServer(ctx)
	p.machine.WaitGone(ctx, p.first, p.grace)
	_ = p.machine.StopAll(ctx, slices.DeleteFunc(started, func(id agent.Identity) bool { return !p.machine.IsAlive(id) }), p.grace)
}
