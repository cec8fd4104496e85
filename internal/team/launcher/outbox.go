package launcher

import (
	"cmp"
	"context"
	"os/exec"
	"slices"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/claude/live"
	"nbs-worker/internal/store"
	"nbs-worker/internal/store/trust"
)

// outbox starts a deliverer for waiting messages when they may be typed. The launcher looks at each FollowSignal; the
// end of a deliverer sends that too, but starts no other. While a message waits, the launcher also looks by the
// clock: if a person deletes a draft, no hook runs and no file changes.
type outbox struct {
	launcher *Launcher
	registry live.Registry
	handle   agent.Handle
	env      []string

	tried occasion    // what the last deliverer was started for
	runs  atomic.Bool // the last deliverer has not ended
}

// occasion is the reason for a deliverer: a message, and the end of a turn.
type occasion struct {
	due  string // entry
	idle time.Time
}

// look starts a deliverer when there is a new occasion. The deliverer runs in its own session, because the keys of
// the terminal are claude's. It journals the result. byClock is an occasion too, unless claude is in a turn or at a
// dialog. waits reports whether there is a message to deliver.
func (o *outbox) look(ctx context.Context, byClock bool) (waits bool) {
	now := occasion{due: o.launcher.Store.Outbox(o.handle).Due()}
	if report := o.launcher.Store.Report(o.handle); report.Activity != nil && report.Activity.State == agent.Idle {
		now.idle = report.Activity.At
	}
	if now.due == "" {
		return false
	}
	if now == o.tried && (!byClock || o.runs.Load() || o.isEngaged()) {
		return true
	}
	o.tried = now
	o.deliver(ctx)
	return true
}

// isEngaged reports whether Claude's registry says that claude is in a turn or at a dialog, or the agent's budget is
// spent.
func (o *outbox) isEngaged() bool {
	r, err := o.launcher.Store.Load(o.handle)
	if err != nil || r.Process == nil {
		return false
	}
	if ledger, err := o.launcher.Store.Costs().Of(r.Handle); r.Budget != "" && err == nil && ledger.Spending(r.Budget, time.Now()).Over() {
		return true
	}
	entry, err := o.registry.Entry(r.Process.Claude().PID)
	return err == nil && entry.Is(r.Process) && (entry.Status == live.StatusBusy || entry.Status == live.StatusWaiting)
}

func (o *outbox) deliver(ctx context.Context) {
	cmd := exec.CommandContext(ctx, cmp.Or(o.launcher.Program, "nbs-worker"), "outbox", "deliver", string(o.handle), "--root", o.launcher.Store.Project())
	cmd.Dir, cmd.Env = o.launcher.Store.Project(), o.env
	cmd.SysProcAttr = &unix.SysProcAttr{Setsid: true}
	if cmd.Start() != nil {
		return // the clock causes another attempt
	}
	o.runs.Store(true)
	go func() {
		_ = cmd.Wait()
		o.runs.Store(false)
	}()
}

// outboxFor returns the outbox of an agent that is started from a launch file. Its deliverer has the environment of
// the command that started the agent, without an agent's mark, and the launcher's folders for the user's state.
func (l *Launcher) outboxFor(handle agent.Handle, launch store.Launch, registry live.Registry) *outbox {
	env := append(slices.Clone(launch.Env), agent.InvocationVariable+"=", agent.HandleVariable+"=") // the last value of a name counts
	for name, value := range l.state() {
		env = append(env, name+"="+value)
	}
	return &outbox{launcher: l, registry: registry, handle: handle, env: env}
}

// state returns the environment variables that name the folders of the user's state.
func (l *Launcher) state() map[string]string {
	state := map[string]string{}
	for name, value := range map[string]string{trust.HomeVariable: string(l.Store.Home()), trust.RuntimeVariable: l.Store.Runtime()} {
		if value != "" {
			state[name] = value
		}
	}
	return state
}
