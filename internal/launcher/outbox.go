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

// outbox starts a deliverer for the messages that wait for an agent, when they may be typed by now. The
// launcher looks at each FollowSignal; the end of a deliverer sends that too, and starts no other.
type outbox struct {
	launcher *Launcher
	handle   agent.Handle
	env      []string

	tried occasion // what the last deliverer was started for
}

// occasion is what a deliverer is for: a message, and the end of a turn.
type occasion struct {
	due  string // entry
	idle time.Time
}

// look starts a deliverer when there is a new occasion for one, in a session of its own: the keys of the
// terminal are claude's. The journal has the result.
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

// outboxFor is the outbox of an agent that is started from a launch file. Its deliverer has the environment
// of the command that started the agent, but no agent's mark, and the launcher's folders for the user's state.
func (l *Launcher) outboxFor(handle agent.Handle, launch store.Launch) *outbox {
	env := append(slices.Clone(launch.Env), agent.InvocationVariable+"=", agent.HandleVariable+"=") // the last of a name counts
	for name, value := range l.state() {
		env = append(env, name+"="+value)
	}
	return &outbox{launcher: l, handle: handle, env: env}
}

// state is the environment variables that name the folders of the user's state.
func (l *Launcher) state() map[string]string {
	state := map[string]string{}
	for name, value := range map[string]string{trust.HomeVariable: string(l.Store.Home()), trust.RuntimeVariable: l.Store.Runtime()} {
		if value != "" {
			state[name] = value
		}
	}
	return state
}
