package launch

import (
	"cmp"
	"context"
	"errors"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/platform/tmux"
	"nbs-worker/internal/store/trust"
)

// Sessions is the tmux server in which a start gets its pane.
type Sessions interface {
	NewSession(ctx context.Context, spec tmux.Spec) error
	NewWindow(ctx context.Context, session string, spec tmux.Spec) error
}

// openPane creates the pane of a start. If the server keeps dead panes, it also removes what is left of the last
// pane.
func (s Starter) openPane(ctx context.Context, r *agent.Record, p Plan, on destination) (name string, err error) {
	id := r.Process.Invocation
	name, err = place(ctx, on, s.sessionNames(r), on.panes, p.Record.Process, tmux.Spec{
		Window: string(r.Handle), Owner: s.Project.ProjectHash() + "/" + r.Handle.Key(), Dir: s.Project.Store.Project(), Invocation: id, InView: p.InView,
		Command: []string{s.Project.Program, "run", string(r.Handle)},
		Env: map[string]string{
			agent.LaunchVariable: string(id),
			// A tmux server that an agent's shell started gives that agent's mark to each pane.
			agent.InvocationVariable: string(id),
			trust.HomeVariable:       string(s.Project.Store.Home()),
			trust.RuntimeVariable:    s.Project.Store.Runtime(),
		},
		StartLimit: max(cmp.Or(p.Wait, startLimit), serverLimit),
	})
	if errors.Is(err, tmux.ErrNoSession) || errors.Is(err, tmux.ErrNoServer) {
		return name, fail.Errorf(fail.Failed, "its tmux session ended at once: %w", err).Hint(hookHint)
	}
	if err != nil {
		return name, s.Project.Diagnose(on.Client, r.Handle, err)
	}
	if left, there := s.Project.PaneOf(on.panes, p.Record.Process); there && p.Record.Process.Adopted == nil {
		err = on.KillPane(ctx, left)
	}
	return name, err
}

// place creates a pane in the session that was made for the agent, which a person may be using, or in a new session.
// It skips a name that the session of another owner has.
func place(ctx context.Context, server Sessions, names []string, panes []tmux.Pane, before *agent.Process, spec tmux.Spec) (name string, err error) {
	for _, spec.Name = range names {
		err := tmux.ErrNoSession
		if session := ownSession(panes, spec, before); session != "" {
			err = server.NewWindow(ctx, session, spec)
		}
		if errors.Is(err, tmux.ErrNoSession) {
			err = server.NewSession(ctx, spec)
		}
		if !errors.Is(err, tmux.ErrDuplicate) {
			return spec.Name, err
		}
	}
	return "", fail.Errorf(fail.Conflict, "other sessions have the agent's tmux session names: %s", spec.Name).
		Hint("use another handle or another tmux server: --tmux-socket NAME")
}

// ownSession returns the id of the session of that name if it was made for the agent; "" otherwise.
func ownSession(panes []tmux.Pane, spec tmux.Spec, before *agent.Process) string {
	for _, pane := range panes {
		last := before != nil && pane.SessionInvocation == before.Invocation
		if pane.Session == spec.Name && (last || pane.SessionOwner == spec.Owner) {
			return pane.SessionID
		}
	}
	return ""
}

// SessionName returns the name that people expect for the agent's tmux session.
func (s Starter) SessionName(r *agent.Record) string { return s.sessionNames(r)[0] }

// sessionNames returns the names to try: first the expected one, then one that no other project uses.
func (s Starter) sessionNames(r *agent.Record) []string {
	return []string{
		"nbs-" + string(r.Handle) + "-live",
		"nbs-" + string(r.Handle) + "-" + s.Project.ProjectHash() + "-live",
	}
}
