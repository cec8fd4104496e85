// Package teardown ends an agent: claude, its launcher, what their tools left behind, and its pane,
// and nothing else.
//
//   - It signals only a process that the record names with its full identity and that has the mark of
//     that start. A record can be edited, and within one clock tick a pid can get a new owner.
//   - Everything that can be refused is refused before anything is written or signalled.
//   - A query without an answer leads to no kill. A nil error means that all of the agent was seen to
//     be gone.
//   - Panes and windows that a person has opened beside the agent's stay.
package teardown

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
	"nbs-worker/internal/platform/machine"
	"nbs-worker/internal/platform/tmux"
	"nbs-worker/internal/team/lineage"
	"nbs-worker/internal/team/observe"
)

const (
	claudeGrace   = 5 * time.Second
	launcherGrace = 3 * time.Second // it reads the screen and records the exit; it does not start claude again
	leftoverGrace = time.Second
)

// Processes finds and ends the processes of a start. It leaves out processes that only look like the agent's.
type Processes interface {
	Below(r *agent.Record) ([]agent.Identity, error) // descendants of its claude and launcher
	Left(r *agent.Record) ([]agent.Identity, error)  // processes with its mark, whatever their parent is now
	Check(id agent.Identity) (machine.Liveness, error)
	Stop(ctx context.Context, grace time.Duration, ids ...agent.Identity) error
}

// Terminal is the tmux server of a start.
type Terminal interface {
	Panes(ctx context.Context) ([]tmux.Pane, error)
	KillPane(ctx context.Context, pane tmux.Pane) error
	ServerPID() (int, error)
}

// processes implements [Processes] with those of the machine.
type processes struct{ lineage.Finder }

func (ps processes) Check(id agent.Identity) (machine.Liveness, error) { return ps.Machine.Check(id) }

func (ps processes) Stop(ctx context.Context, grace time.Duration, ids ...agent.Identity) error {
	return ps.Machine.StopAll(ctx, ids, grace)
}

// teardown ends agents of one project.
type teardown struct{ project *observe.Project }

// CheckEndable refuses to end what does not belong to this record, before anything is written or signalled. Errors:
// Conflict.
func CheckEndable(ctx context.Context, o *observe.Project, r *agent.Record) error {
	return teardown{o}.checkEndable(ctx, r)
}

func (t teardown) checkEndable(ctx context.Context, r *agent.Record) error {
	if r.Process == nil {
		return t.checkUnidentified(r)
	}
	if r.Process.Adopted != nil { // it has no mark: only the record says that it is ours
		if err := t.project.Store.CheckSeal(r); err != nil {
			return err
		}
	}
	if !t.project.IsForeign(r) {
		return t.checkMarks(ctx, r)
	}
	if r.ExitOf(r.Process.Invocation) != nil {
		return nil // its own launcher saw it end, so nothing of it can be here
	}
	elsewhere := fail.Errorf(fail.Conflict, "it runs on host %s, or in another pid namespace of this one; nothing was signalled or changed", human.Quote(r.Process.Host))
	return t.project.HintJob(elsewhere, r, "stop").Hint("run the command where the agent runs")
}

// End ends what a record names: claude, its launcher, what their tools left behind, and its pane. A nil error means
// that all of it was seen to be gone. If only the pane may be left, [SparingPane] drops the error. Panes and windows
// that a person has opened in the agent's session stay.
func End(ctx context.Context, o *observe.Project, r agent.Record) error {
	return teardown{o}.end(ctx, r)
}

func (t teardown) end(ctx context.Context, r agent.Record) error {
	if err := t.checkEndable(ctx, &r); err != nil || r.Process == nil || t.project.IsForeign(&r) {
		return err
	}
	if !arrived(&r) { // a late launcher finds no launch file, and exits by itself
		_ = t.project.Store.DropLaunch(r.Handle) // if it cannot be removed, no launcher can take it either
	}
	return endStart(ctx, processes{t.project.Lineage()}, &r, func() error {
		client, panes, err := t.project.Panes(ctx, &r)
		if err != nil {
			return err
		}
		return t.endPane(ctx, client, panes, &r)
	})
}

// arrived reports whether the record names the launcher of a start, or an adopted claude.
func arrived(r *agent.Record) bool {
	return r.Process.Launcher.PID != 0 || r.Process.Adopted != nil
}

// endStart ends claude first, so that its launcher records how it ended, and exits by itself.
func endStart(ctx context.Context, ps Processes, r *agent.Record, closePane func() error) error {
	leftovers, err := ps.Below(r) // now: they are found through their parents
	if err != nil {
		return err
	}
	if err := ps.Stop(ctx, claudeGrace, r.Process.Identity); err != nil {
		return fmt.Errorf("end claude: %w", err)
	}
	if err := ps.Stop(ctx, launcherGrace, r.Process.LauncherIdentity()); err != nil {
		return fmt.Errorf("end the launcher: %w", err)
	}
	if err := endLeftovers(ctx, ps, r, leftovers); err != nil {
		return fmt.Errorf("end what claude's tools left behind: %w", err)
	}
	var pane error
	if arrived(r) && hasPane(r) {
		pane = closePane()
	}
	err = checkGone(ps, r)
	if err != nil && !arrived(r) { // its launcher has just started, and is about to exit
		err = cmp.Or(endLeftovers(ctx, ps, r, nil), checkGone(ps, r))
	}
	if err != nil {
		return err
	}
	if pane != nil {
		return &paneLeftError{pane}
	}
	return nil
}

// Sweep ends what the tools of a start have left running after claude has ended. A launcher calls it before it
// starts claude again.
func Sweep(ctx context.Context, o *observe.Project, r *agent.Record) error {
	ps := processes{o.Lineage()}
	found, err := ps.Below(r)
	if err != nil {
		return err
	}
	return endLeftovers(ctx, ps, r, found)
}

// endLeftovers ends the processes that a start left running, and processes that those were just starting.
func endLeftovers(ctx context.Context, ps Processes, r *agent.Record, found []agent.Identity) error {
	const rounds = 5 // processes that keep starting new ones for longer do so on purpose
	for range rounds {
		left, err := ps.Left(r)
		if err != nil {
			return err
		}
		if found = append(found, left...); len(found) == 0 {
			return nil
		}
		if err := ps.Stop(ctx, leftoverGrace, found...); err != nil {
			return err
		}
		found = nil
	}
	return nil // checkGone finds what is still running
}

// SparingPane drops the error of an end that failed only to close the pane. A tmux server that does not answer is no
// reason not to start the agent again. The pane ends by itself with the launcher that led it.
func SparingPane(err error) error {
	if _, left := errors.AsType[*paneLeftError](err); left {
		return nil
	}
	return err
}

// checkUnidentified handles a record of the original tools. Its bare pid may belong to another process now, so
// nothing is signalled. It returns an error if a claude has the conversation open.
func (t teardown) checkUnidentified(r *agent.Record) error {
	strangers, err := t.project.Strangers(r)
	if err != nil || len(strangers) == 0 {
		return err
	}
	return fail.Errorf(fail.Conflict, "pid %d has the conversation open, and the record does not identify it", strangers[0].PID).
		Hint("end it in its own terminal with /exit; then repeat the command")
}

// hasPane reports whether a pane was created for a start. The pane of an adopted claude is the user's; it ends by
// itself if nothing else ran there.
func hasPane(r *agent.Record) bool { return r.Process.Tmux != nil && r.Process.Adopted == nil }

// endPane ends the pane of a start, if it exists. Other panes and windows of its session belong to a person and
// stay.
func (t teardown) endPane(ctx context.Context, server Terminal, panes []tmux.Pane, r *agent.Record) error {
	pane, there := t.project.PaneOf(panes, r.Process)
	if !there {
		return nil
	}
	if err := server.KillPane(ctx, pane); err != nil {
		return t.project.Diagnose(server, r.Handle, err)
	}
	panes, err := server.Panes(ctx)
	if err != nil {
		return t.project.Diagnose(server, r.Handle, err)
	}
	if _, there := t.project.PaneOf(panes, r.Process); there {
		return errors.New("it still exists")
	}
	return nil
}

// checkGone checks that nothing of the start is left.
func checkGone(ps Processes, r *agent.Record) error {
	left, err := ps.Left(r)
	if err != nil {
		return err
	}
	for _, id := range append(left, r.Process.Identity, r.Process.LauncherIdentity()) {
		if liveness, err := ps.Check(id); liveness != machine.Gone {
			return errors.Join(err, fmt.Errorf("process %d is still running", id.PID))
		}
	}
	return nil
}

// CheckSelf refuses to end the agent from inside itself: the command would die with it before it is done.
func CheckSelf(o *observe.Project, r *agent.Record, pane *tmux.Pane) error {
	if r.Process == nil || !within(o, r, pane) {
		return nil
	}
	return fail.Errorf(fail.Conflict, "the command runs inside this agent and would end with it").
		Hint("run it from another terminal, or let another agent run it")
}

func within(o *observe.Project, r *agent.Record, pane *tmux.Pane) bool {
	if !o.Machine.IsGone(r.Process.Identity) && slices.Contains(o.Machine.Ancestors(), r.Process.PID) {
		return true
	}
	socket, _, _ := strings.Cut(o.Variable("TMUX"), ",")
	return pane != nil && r.Process.Tmux != nil && socket == r.Process.Tmux.Path && pane.ID == o.Variable("TMUX_PANE")
}

// paneLeftError means that nothing of an agent is left, except perhaps its pane.
type paneLeftError struct{ err error }

func (e *paneLeftError) Error() string {
	return fmt.Sprintf("the agent has ended, but its tmux pane could not be closed: %v", e.err)
}

func (e *paneLeftError) Unwrap() error { return e.err }
