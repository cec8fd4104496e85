package supervisor

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/launcher"
	"nbs-worker/internal/proc"
	"nbs-worker/internal/tmux"
)

const (
	claudeGrace   = 5 * time.Second
	launcherGrace = 3 * time.Second // it writes the exit down and reads the screen
	leftoverGrace = time.Second
)

// end ends what a record names: claude, its launcher, what their tools left behind,
// and the tmux session. nil means that all of it was seen to be gone; after a
// [sessionLeftError] all but the session was.
func (s *Supervisor) end(ctx context.Context, r agent.Record) error {
	if r.Process == nil {
		return s.endUnidentified(&r)
	}
	if elsewhere(&r) {
		if r.ExitOf(r.Process.Invocation) != nil {
			return nil // its own launcher saw it end, and nothing of it can be here
		}
		return agent.Errorf(agent.Conflict, "it belongs to host %s, or to another pid namespace of this one, and nothing was signalled", agent.Quote(r.Process.Host)).
			Hint("run the command where the agent runs")
	}
	if err := s.checkMarks(ctx, &r); err != nil {
		return err
	}
	if !arrived(&r) {
		if err := s.endArrival(ctx, &r); err != nil {
			return err
		}
	}
	// Descendants are found through their parents, so before these end.
	leftovers, err := s.descendants(&r)
	if err != nil {
		return err
	}
	if err := proc.Stop(ctx, r.Process.Identity, claudeGrace); err != nil {
		return fmt.Errorf("end claude: %w", err)
	}
	if err := s.endLauncher(ctx, &r); err != nil {
		return fmt.Errorf("end the launcher: %w", err)
	}
	carrying, err := s.carrying(&r)
	if err != nil {
		return err
	}
	if err := proc.StopAll(ctx, append(leftovers, carrying...), leftoverGrace); err != nil {
		return fmt.Errorf("end what claude's tools left behind: %w", err)
	}
	var session error
	if arrived(&r) {
		_, session = s.endSession(ctx, &r)
	}
	if err := s.checkGone(&r); err != nil {
		return err
	}
	if session != nil {
		return &sessionLeftError{session}
	}
	return nil
}

// sparingSession lets pass what only the tmux session kept from being complete: a
// server that does not answer is no reason to leave an agent down. Its session ends by
// itself with the launcher that led it.
func sparingSession(err error) error {
	if _, only := errors.AsType[*sessionLeftError](err); only {
		return nil
	}
	return err
}

// elsewhere tells whether the start was on another machine, or on this one before it
// was renamed and restarted.
func elsewhere(r *agent.Record) bool {
	liveness, _ := proc.Check(r.Process.Identity)
	return liveness == proc.Foreign
}

// endUnidentified handles a record of the original tools. Its bare pid may be
// anybody's by now, so nothing is signalled; a claude that is open on the
// conversation is reported.
func (s *Supervisor) endUnidentified(r *agent.Record) error {
	strangers, err := s.strangers(r)
	if err != nil || len(strangers) == 0 {
		return err
	}
	return agent.Errorf(agent.Conflict, "pid %d has the conversation open, and the record does not identify it", strangers[0].PID).
		Hint("end it in its own terminal with /exit; then repeat the command")
}

// endLauncher waits for the launcher, which ends by itself after claude.
func (s *Supervisor) endLauncher(ctx context.Context, r *agent.Record) error {
	h, liveness, err := proc.Open(r.Process.LauncherIdentity())
	if err != nil || liveness != proc.Alive {
		return err
	}
	defer h.Close()
	if r.Process.PID != 0 {
		wait, cancel := context.WithTimeout(context.WithoutCancel(ctx), launcherGrace)
		defer cancel()
		if h.Wait(wait) == nil {
			return nil
		}
	}
	return proc.Stop(ctx, h.Identity, leftoverGrace)
}

// descendants of the agent's claude and launcher that belong to its start.
func (s *Supervisor) descendants(r *agent.Record) ([]agent.Identity, error) {
	var found []agent.Identity
	for _, parent := range []agent.Identity{r.Process.LauncherIdentity(), r.Process.Identity} {
		if !alive(parent) {
			continue
		}
		ids, err := proc.Descendants(parent.PID)
		if err != nil {
			return nil, err
		}
		found = append(found, ids...)
	}
	return s.ownOnly(r, found), nil
}

// carrying are the processes that this start left behind, wherever they were adopted.
func (s *Supervisor) carrying(r *agent.Record) ([]agent.Identity, error) {
	found, err := proc.Carrying(launcher.InvocationVariable, string(r.Process.Invocation))
	return s.ownOnly(r, found), err
}

// tmuxServer is the name of a tmux server's process.
const tmuxServer = "tmux: server"

// inForeignTmux tells whether a process is a tmux server, or lives in a pane that is
// not the agent's. A server that came up from the agent's shell hands the agent's mark
// to all of its panes, and any of them may be a person's.
func (s *Supervisor) inForeignTmux(r *agent.Record, pid int) bool {
	leader := 0 // of the pane
	for _, ancestor := range proc.AncestorsOf(pid) {
		if ancestor == r.Process.PID || ancestor == r.Process.Launcher.PID {
			return false
		}
		if proc.Name(ancestor) == tmuxServer {
			// A launcher that has not written down who it is yet leads our pane all the same.
			return leader == 0 || !carries(r, leader) || !s.runs(leader, r.Handle)
		}
		leader = ancestor
	}
	return false
}

// ownOnly drops what only looks like the agent's: other agents that it started, what
// lives in other tmux sessions, and this command itself.
func (s *Supervisor) ownOnly(r *agent.Record, ids []agent.Identity) []agent.Identity {
	ancestors := proc.Ancestors()
	seen := map[int]bool{r.Process.PID: true, r.Process.Launcher.PID: true}
	return slices.DeleteFunc(ids, func(id agent.Identity) bool {
		other, carries := proc.Variable(id.PID, launcher.InvocationVariable)
		foreign := carries && other != string(r.Process.Invocation)
		drop := foreign || seen[id.PID] || slices.Contains(ancestors, id.PID) || s.inForeignTmux(r, id.PID)
		seen[id.PID] = true
		return drop
	})
}

// endSession ends the tmux session of a start and returns who led its pane; nobody when it
// is not there.
func (s *Supervisor) endSession(ctx context.Context, r *agent.Record) (leader agent.Identity, err error) {
	if r.Process.Tmux == nil || r.Process.Adopted != nil {
		return leader, nil // an adopted claude's session is the user's, and ends by itself when it was all that ran there
	}
	client, panes, err := s.panes(ctx, r)
	if err != nil {
		return leader, err
	}
	pane, there := paneOf(panes, r.Process)
	if !there {
		return leader, nil
	}
	if id, err := proc.Identify(pane.PID); err == nil { // else it has gone already
		leader = id
	}
	if err := client.Kill(ctx, pane.SessionID); err != nil {
		return leader, diagnose(client, r.Handle, err)
	}
	if panes, err = client.Panes(ctx); err != nil {
		return leader, diagnose(client, r.Handle, err)
	}
	if _, there := paneOf(panes, r.Process); there {
		return leader, errors.New("it is still there")
	}
	return leader, nil
}

// checkGone observes that nothing of the start is left.
func (s *Supervisor) checkGone(r *agent.Record) error {
	left, err := s.carrying(r)
	if err != nil {
		return err
	}
	for _, id := range append(left, r.Process.Identity, r.Process.LauncherIdentity()) {
		if liveness, err := proc.Check(id); liveness != proc.Gone {
			return errors.Join(err, fmt.Errorf("process %d is still there", id.PID))
		}
	}
	return nil
}

// checkSelf refuses to end the agent from inside itself, or from another window of its
// tmux session: the command would die with it, half done.
func (s *Supervisor) checkSelf(r *agent.Record, panes []tmux.Pane) error {
	if r.Process == nil || !s.within(r, panes) {
		return nil
	}
	return agent.Errorf(agent.Conflict, "the command runs inside this very agent and would end with it").
		Hint("run it from another terminal, or let another agent run it")
}

func (s *Supervisor) within(r *agent.Record, panes []tmux.Pane) bool {
	if !gone(r.Process.Identity) && slices.Contains(proc.Ancestors(), r.Process.PID) {
		return true
	}
	socket, _, _ := strings.Cut(s.variable("TMUX"), ",")
	return r.Process.Tmux != nil && socket == r.Process.Tmux.Path && slices.ContainsFunc(panes, func(p tmux.Pane) bool {
		return p.Invocation == r.Process.Invocation && p.ID == s.variable("TMUX_PANE")
	})
}
