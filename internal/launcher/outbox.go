package launcher

import (
	"cmp"
	"context"
	"os/exec"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/store"
	"nbs-worker/internal/trust"
)

// outbox has what waits for an agent typed, when something has made that possible. It is looked at when
// the launcher is signalled. That the deliverer has ended signals it too, and is no reason for another.
type outbox struct {
	launcher *Launcher
	handle   agent.Handle
	env      []string

	tried occasion // by the deliverer before
}

// occasion is what a deliverer is for: a message, and the end of a turn.
type occasion struct {
	due  string // entry
	idle time.Time
}

// look runs a deliverer, in a session of its own: the keys of the terminal are claude's. What comes of
// it is in the journal.
func (o *outbox) look(ctx context.Context) {
	now := occasion{due: o.launcher.Store.Outbox(o.handle).Due()}
	if report := o.launcher.Store.Report(o.handle); report.Activity != nil && report.Activity.State == agent.Idle {
		now.idle = report.Activity.At
	}
	if now.due == "" || now == o.tried {
		return
	}
	o.tried = now
	cmd := exec.CommandContext(ctx, cmp.Or(o.launcher.Program, "nbs-worker"), "outbox", "deliver", string(o.handle), "--root", o.launcher.Store.Project())
	cmd.Dir, cmd.Env = o.launcher.Store.Project(), o.env
	cmd.SysProcAttr = &unix.SysProcAttr{Setsid: true}
	if cmd.Start() == nil { // else the next occasion is another try
		go func() { _ = cmd.Wait() }()
	}
}

// outboxFor is the outbox of an agent that is started with a launch. Its deliverer has the environment
// of who started the agent, but belongs to none, and has the state of the user where the launcher has it.
func (l *Launcher) outboxFor(handle agent.Handle, launch store.Launch) *outbox {
	env := append(slices.Clone(launch.Env), agent.InvocationVariable+"=", agent.HandleVariable+"=") // the last of a name counts
	for name, value := range l.state() {
		env = append(env, name+"="+value)
	}
	return &outbox{launcher: l, handle: handle, env: env}
}

// state is where the user's state is, as variables.
func (l *Launcher) state() map[string]string {
	state := map[string]string{}
	for name, value := range map[string]string{trust.HomeVariable: string(l.Store.Home()), trust.RuntimeVariable: l.Store.Runtime()} {
		if value != "" {
			state[name] = value
		}
	}
	return state
}
