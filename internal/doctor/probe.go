package doctor

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/claude"
	"nbs-worker/internal/claude/live"
	"nbs-worker/internal/proc"
	"nbs-worker/internal/tmux"
)

const (
	probeWait  = 20 * time.Second // an agent is ready within one; a machine may be busy
	probeGrace = 2 * time.Second  // for what comes after that, or with the end
	probeLook  = 50 * time.Millisecond
)

// probe starts a claude as an agent's, in a folder of its own, and watches what it does.
func (d *examination) probe(ctx context.Context) []Finding {
	said := d.claude()
	if said.findErr != nil {
		return []Finding{found(Note, "claude was not tried: it was not found", "")}
	}
	dir := filepath.Join(d.scratch, "probe")
	if err := os.Mkdir(dir, 0o700); err != nil {
		return []Finding{found(Warning, "claude was not tried: "+oneLine(err), "")}
	}
	p := probing{Probe: claude.Probe{Dir: dir, Session: agent.NewSessionID()}}
	var err error
	if p.tmux, err = tmux.Scratch(dir); err == nil {
		err = p.Prepare()
	}
	if err == nil {
		defer func() { _ = p.tmux.KillServer(context.WithoutCancel(ctx)) }()
		err = p.start(context.WithoutCancel(ctx), said.program) // one that is half started could not be ended
	}
	if err != nil {
		return []Finding{found(Note, "claude was not tried: "+oneLine(err), "")}
	}
	p.watch(ctx)
	p.end(ctx)
	return p.judge()
}

// probing is a claude that is being tried.
type probing struct {
	claude.Probe
	tmux   *tmux.Client
	pane   tmux.Pane
	first  agent.Identity // of the pane
	live   live.Entry     // as its registry had it last
	inFile bool
	screen string
}

func (p *probing) start(ctx context.Context, program string) error {
	const name = "nbs-probe-live"
	err := p.tmux.NewSession(ctx, tmux.Spec{
		Name: name, Dir: p.Dir, Invocation: agent.NewInvocation(), Env: claude.ScratchVariables(p.Dir),
		Command: slices.Concat([]string{program}, p.Args()),
	})
	if err != nil {
		return err
	}
	panes, err := p.tmux.Panes(ctx)
	if len(panes) > 0 {
		p.pane = panes[0]
		p.first, _ = proc.Identify(p.pane.PID) // it may have left by now
	}
	return err
}

// watch waits until all has been seen that is to be seen, or the time is over, or claude.
func (p *probing) watch(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, probeWait)
	defer cancel()
	tick := time.NewTicker(probeLook)
	defer tick.Stop()
	var ready time.Time
	for {
		if entry, there := p.Registered(); there {
			p.live, p.inFile = entry, true
		}
		heard := p.Heard()
		if p.live.Status == "idle" && heard.Started && ready.IsZero() {
			ready = time.Now()
		}
		if !ready.IsZero() && (heard.StatusLine || time.Since(ready) > probeGrace) {
			return
		}
		select {
		case <-ctx.Done():
			p.screen, _ = p.tmux.Screen(context.WithoutCancel(ctx), p.pane.ID)
			return
		case <-tick.C:
		}
		if _, err := proc.Identify(p.pane.PID); err != nil {
			return
		}
	}
}

// end hangs up, as a tmux server that is ended does to all of its agents. What stays all the
// same is ended as an agent is.
func (p *probing) end(ctx context.Context) {
	ctx = context.WithoutCancel(ctx)
	started := []agent.Identity{p.first}
	if proc.IsAlive(p.first) {
		below, _ := proc.Descendants(p.first.PID)
		started = append(started, below...)
	}
	_ = p.tmux.KillServer(ctx)
	proc.WaitGone(ctx, p.first, probeGrace)
	_ = proc.StopAll(ctx, slices.DeleteFunc(started, func(id agent.Identity) bool { return !proc.IsAlive(id) }), probeGrace)
}

func (p *probing) judge() []Finding {
	heard := p.Heard()
	unfit := func(what, why string) Finding {
		f := found(Failure, what, why, "claude update")
		f.Unfit = true
		return f
	}
	var all []Finding
	if !p.inFile {
		what := "a claude that was tried did not enter itself into its registry"
		if words := strings.Join(strings.Fields(p.screen), " "); words != "" {
			what += "; its screen: " + agent.Quote(words)
		}
		return []Finding{unfit(what, "whether an agent is ready, what it does, and in which conversation it is, is known from there")}
	}
	if p.live.Status == "" || p.live.StartTicks == 0 {
		all = append(all, unfit("the registry entry of a claude does not say what it does, or which process it is", "what an agent does would be unknown"))
	}
	if !heard.Started {
		all = append(all, unfit("a claude did not run the hook SessionStart of its settings", "a conversation that changes inside claude, by /clear, would not be followed at once"))
	}
	if !heard.Ended {
		all = append(all, found(Warning, "a claude that was hung up did not run the hook SessionEnd", "why an agent ended is known less exactly"))
	}
	if !heard.StatusLine {
		all = append(all, found(Warning, "a claude did not run the status line of its settings", "context and cost of agents are computed from transcripts, less exactly", "claude update"))
	}
	if len(all) == 0 {
		return holding("a claude that was tried entered itself into its registry, and ran its hooks and its status line")
	}
	return all
}
