package observe

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/claude/screen"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/platform/tmux"
)

// answer is the answer of a tmux server about its panes.
type answer struct {
	tmux.Listing
	err error
}

type answers map[serverKey]*answer

// ask asks each tmux server in which the agents were started for its panes, once. It asks all servers at the same
// time, because any of them may not answer. The screen of an only agent is read in the same call, if it is to be read.
// The returned function waits for the answers.
func (l *round) ask(ctx context.Context, some subjects) (wait func() answers) {
	all := answers{}
	var asking sync.WaitGroup
	for key, in := range byServer(some) {
		asked, said := *l.representative(in), new(answer)
		all[key] = said
		session := ""
		if l.closely && len(in) == 1 {
			session = asked.TmuxSession
		}
		_, answered := l.askPanes(ctx, &asked, session)
		asking.Go(func() { said.Listing, said.err = answered() })
	}
	return func() answers {
		asking.Wait()
		return all
	}
}

// tell gives the agents the answers of the servers of their present starts.
func (l *round) tell(all answers, some subjects) {
	for key, in := range byServer(some) {
		if said := all[key]; said != nil { // otherwise it has just been restarted in another server
			in.each(func(a *subject) {
				l.setPane(a, said.Panes, said.err)
				a.screens = said.Screens
			})
		}
	}
}

// serverKey identifies a server: two servers may have had the same socket one after the other, and a record may be
// from an earlier boot.
type serverKey struct {
	agent.TmuxPlace
	agent.Identity
}

func byServer(some subjects) map[serverKey]subjects {
	servers := map[serverKey]subjects{}
	for _, a := range some {
		if a.inTmux() {
			p := a.record.Process
			key := serverKey{TmuxPlace: *p.Tmux, Identity: p.ServerIdentity()}
			servers[key] = append(servers[key], a)
		}
	}
	return servers
}

// representative returns the record with which to ask a server for all: that of an agent that needs the server, if
// there is one.
func (o *Project) representative(some subjects) *agent.Record {
	at := max(0, slices.IndexFunc(some, func(a *subject) bool { return o.needsServer(&a.record) }))
	return &some[at].record
}

func (o *Project) setPane(a *subject, panes []tmux.Pane, err error) {
	a.pane, a.tmuxErr = nil, nil
	if pane, there := o.PaneOf(panes, a.record.Process); there {
		a.pane, a.evidence.Pane = &pane, PaneThere
		return
	}
	if _, unreached := errors.AsType[*UnreachedError](err); unreached && !o.needsServer(&a.record) {
		err = nil
	}
	a.evidence.Pane, a.tmuxErr = PaneAbsent, err
	if err != nil && fail.KindOf(err) != fail.BadInput { // there is no pane at a socket that is not ours
		a.evidence.Pane = PaneUnknown
	}
}

// readScreens reads the screens that may show more than the other sources, with one call to each server.
func (l *round) readScreens(ctx context.Context) {
	unclear := l.all().where(func(a *subject) bool { return a.pane != nil && (l.closely || a.evidence.NeedsScreen()) })
	var answers sync.WaitGroup
	for _, in := range byServer(unclear) {
		answers.Go(func() {
			client, err := l.Client(&in[0].record)
			if err != nil {
				return
			}
			for begun := time.Now(); ; {
				in.read(ctx, client)
				in = in.where(func(a *subject) bool { return a.evidence.drawsDialog() })
				if len(in) == 0 || time.Since(begun) >= drawTime {
					return
				}
				select {
				case <-ctx.Done():
					return
				case <-time.After(drawPause):
				}
			}
		})
	}
	answers.Wait()
}

// drawTime is how long claude may take to draw a dialog after it has reported the dialog to its registry. drawPause
// is how often its screen is read until then.
const (
	drawTime  = time.Second
	drawPause = 50 * time.Millisecond
)

// drawsDialog reports whether claude has just begun to wait and its screen does not show the dialog yet.
func (e *Evidence) drawsDialog() bool {
	status, known := e.registered()
	return known && status.State == agent.Waiting && status.Age != nil && *status.Age < drawTime && e.Screen.State != agent.Waiting
}

// read reads the screens of agents in one server, but for those that came with the list of panes.
func (some subjects) read(ctx context.Context, client *tmux.Client) {
	unread := some.where(func(a *subject) bool { return !a.takeScreen(a.screens) })
	some.each(func(a *subject) { a.screens = nil }) // the next look at them is a new one
	if len(unread) == 0 {
		return
	}
	ids := make([]string, len(unread))
	for i, a := range unread {
		ids[i] = a.pane.ID
	}
	screens, _ := client.Screens(ctx, ids) // a screen that was not read is left out
	unread.each(func(a *subject) { a.takeScreen(screens) })
}

// takeScreen takes the screen of the agent's pane as evidence, and reports whether it is among these.
func (a *subject) takeScreen(screens map[string]tmux.Screen) bool {
	shown, read := screens[a.pane.ID]
	if read = read && shown.Invocation == a.pane.Invocation; read {
		a.evidence.Screen = screen.Read(shown.Text)
	}
	return read
}
