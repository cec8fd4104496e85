// Package launcher is the small process that leads an agent's pane: it starts
// claude on the pane's own terminal, waits for it, and writes down how it ended.
//
// It exists because tmux 3.3a loses exit statuses, because the lease on a
// conversation must be held by somebody who lives exactly as long as claude, and
// because whoever restarts claude must notice its exit without polling. Between
// start and exit it sleeps in wait(2). It never reads the terminal and leaves no
// lock descriptor open across exec.
//
// The package imports store, claude, tmux and proc; it is imported by supervisor
// and cli, and must not import them.
package launcher

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/claude"
	"nbs-worker/internal/proc"
	"nbs-worker/internal/store"
	"nbs-worker/internal/store/journal"
	"nbs-worker/internal/trust"
)

// Launcher starts one agent once.
type Launcher struct {
	Store *store.Store
	// Pane is the environment of the terminal in which the launcher runs.
	Pane    map[string]string
	Program string // path of nbs-worker, to which claude reports; "" for the one on the PATH
	Now     func() time.Time
}

// Run starts claude for the handle with what a verb left for the invocation, and
// returns claude's exit code when it has ended: 128 plus the number of a signal. An
// error means that claude was not started; it is recorded as an exit too.
func (l *Launcher) Run(ctx context.Context, handle agent.Handle, id agent.Invocation) (int, error) {
	launch, err := l.Store.TakeLaunch(handle, id)
	if err != nil {
		return 0, err
	}
	child, release, err := l.open(ctx, handle, launch)
	if err != nil {
		untold := l.recordRefusal(ctx, handle, id, err)
		if untold != nil && strings.Contains(err.Error(), untold.Error()) {
			untold = nil // one lock kept claude from being started, and that from being written down
		}
		return 0, errors.Join(err, untold)
	}
	defer release()
	debug.FreeOSMemory() // of the environment and the prompt: what follows is a long sleep
	end := child.wait()
	return end.shellCode(), l.recordExit(ctx, handle, child, end)
}

// open takes what makes this process the only one on the conversation, and starts
// claude. release gives it up again.
func (l *Launcher) open(ctx context.Context, handle agent.Handle, launch store.Launch) (c *child, release func(), err error) {
	record, err := l.Store.Load(handle)
	if err == nil {
		err = checkCurrent(&record, launch.Invocation) // else its lease would be in the way of the next start's
	}
	if err == nil {
		err = l.Store.CheckSeal(&record)
	}
	if err != nil {
		return nil, nil, err
	}
	held, err := l.hold(&record, launch)
	if err != nil {
		return nil, nil, err
	}
	if c, err = l.begin(ctx, handle, launch, held); err != nil {
		held.release()
		return nil, nil, err
	}
	return c, held.release, nil
}

// begin starts claude and writes down who it is.
func (l *Launcher) begin(ctx context.Context, handle agent.Handle, launch store.Launch, held *holding) (*child, error) {
	record, err := l.announce(ctx, handle, launch)
	if err != nil {
		return nil, err
	}
	child, err := l.start(&record, launch, func() { held.follow(ctx) })
	if err != nil {
		return nil, err
	}
	if err := l.recordStart(ctx, handle, child); err != nil {
		return nil, errors.Join(err, child.takeBack())
	}
	return child, nil
}

// announce writes the launcher's own identity, before claude can exist.
// Errors: [agent.ErrSuperseded] when a later start has taken the record over.
func (l *Launcher) announce(ctx context.Context, handle agent.Handle, launch store.Launch) (agent.Record, error) {
	self, err := proc.Self()
	if err != nil {
		return agent.Record{}, err
	}
	return l.Store.Update(ctx, handle, func(r *agent.Record) error {
		if err := checkWanted(r, launch.Invocation); err != nil {
			return err
		}
		if err := l.Store.CheckSeal(r); err != nil { // this is the record that will run
			return err
		}
		r.Process.Launcher = self.Identified
		if config, err := claude.ConfigOf(r, launch.Env); err == nil {
			r.Process.Transcripts = config.TranscriptFolder()
		}
		r.Process.Tmux = l.place(launch.TmuxSocket)
		return nil
	})
}

// place is the tmux server in which this launcher leads a pane, as $TMUX tells: path,
// pid and session, separated by commas. Nil for a launcher that a person started.
func (l *Launcher) place(socket string) *agent.TmuxPlace {
	path, rest, inTmux := strings.Cut(l.Pane["TMUX"], ",")
	if socket == "" || !inTmux {
		return nil
	}
	pid, _, _ := strings.Cut(rest, ",")
	place := &agent.TmuxPlace{Socket: socket, Path: path}
	if place.ServerPID, _ = strconv.Atoi(pid); place.ServerPID > 0 {
		if id, err := proc.Identify(place.ServerPID); err == nil {
			place.ServerStartTicks = id.StartTicks
		}
	}
	return place
}

// recordStart writes claude's identity.
func (l *Launcher) recordStart(ctx context.Context, handle agent.Handle, child *child) error {
	identity, err := proc.Identify(child.pid())
	if err != nil && !child.ended() {
		return fmt.Errorf("identify claude: %w", err)
	}
	record, err := l.Store.Update(ctx, handle, func(r *agent.Record) error {
		if err := checkWanted(r, child.invocation); err != nil {
			return err
		}
		identity.PID = child.pid() // kept even when it has ended already
		r.PID = identity.PID
		r.Process.Identified = identity.Identified
		r.Started = stamp(child.started)
		return nil
	})
	if err != nil {
		return err
	}
	return l.journal(ctx, "start", &record, child.opening.Conversation()+", model "+cmp.Or(string(record.Model), "of Claude's choice"))
}

// checkWanted is checkCurrent for a start: one that was stopped meanwhile must not come up.
func checkWanted(r *agent.Record, id agent.Invocation) error {
	if err := checkCurrent(r, id); err != nil {
		return err
	}
	if r.Desired == agent.DesiredStopped {
		return agent.Errorf(agent.Conflict, "the agent was stopped meanwhile")
	}
	return nil
}

func checkCurrent(r *agent.Record, id agent.Invocation) error {
	if r.Process == nil || r.Process.Invocation != id {
		return agent.ErrSuperseded
	}
	return nil
}

func (l *Launcher) journal(ctx context.Context, event string, record *agent.Record, detail string) error {
	return l.Store.Journal().Append(ctx, journal.EventOf(record, stamp(l.Now()), event, detail))
}

func (l *Launcher) holder(handle agent.Handle) store.Holder {
	self, _ := proc.Self()
	return store.Holder{PID: self.PID, Verb: "run", Handle: handle, Since: stamp(l.Now())}
}

// start builds the command line from the record and starts claude. How the conversation
// is opened was decided by the verb, which still knew how the start before had ended.
// Should that have become wrong since, claude refuses it.
func (l *Launcher) start(record *agent.Record, launch store.Launch, follow func()) (*child, error) {
	config, err := claude.ConfigOf(record, launch.Env)
	if err != nil {
		return nil, err
	}
	opening := claude.Opening(launch.Opening)
	if opening == claude.OpenNew {
		if err := config.SetStubAside(record.SessionID); err != nil {
			return nil, err
		}
	}
	return startChild(command{
		program:    launch.Claude,
		args:       claude.Args(record, opening, launch.Prompt, Settings(l.Program, l.Store)),
		env:        claude.Env(record, launch.Env, l.ours(record, launch.Invocation)),
		dir:        record.LaunchCwd(),
		invocation: launch.Invocation,
		opening:    opening,
		config:     config,
		now:        l.Now,
		openFiles:  launch.OpenFiles,
		follow:     follow,
	})
}

// ours are the variables that only the launcher knows: who the agent is, and the
// terminal it has. They win over the caller's.
func (l *Launcher) ours(record *agent.Record, id agent.Invocation) map[string]string {
	env := map[string]string{
		agent.HandleVariable:     string(record.Handle),
		agent.RootVariable:       l.Store.Project(), // the record's may be of before the folder was moved, or of a copy's original
		agent.InvocationVariable: string(id),
		"PWD":                    record.LaunchCwd(),
	}
	for name, value := range map[string]string{trust.HomeVariable: string(l.Store.Home()), trust.RuntimeVariable: l.Store.Runtime()} {
		if value != "" { // hooks find the archive where the verbs do, whatever the record's variables say
			env[name] = value
		}
	}
	for name, value := range l.Pane {
		env[name] = value
	}
	return env
}

// stamp is the form in which times are recorded.
func stamp(t time.Time) time.Time { return t.UTC().Truncate(time.Second) }
