package launcher

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"strconv"
	"strings"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/claude"
	"nbs-worker/internal/claude/cmdline"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/store"
	"nbs-worker/internal/store/turnfiles"
)

// start locks the conversation for this process, writes the launcher's identity into the record, starts claude and
// records claude's identity. release releases the conversation.
func (l *Launcher) start(ctx context.Context, handle agent.Handle, next *Restart, signals chan os.Signal) (c *child, release func(), err error) {
	launch := next.Launch
	if next.Prove != nil { // the pane has the last start's mark and screen, and what was typed since
		terminal := saveTerminal()
		terminal.dropKeys()
		terminal.write(clearScreen)
		if err := l.markPane(ctx, launch.Invocation); err != nil {
			return nil, nil, err
		}
	}
	record, err := l.Store.Load(handle)
	if err == nil {
		err = checkCurrent(&record, launch.Invocation) // if not, this lease would block the next start's
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
	defer func() {
		if err != nil {
			held.release()
		}
	}()
	if record, err = l.announce(ctx, handle, launch); err != nil {
		return nil, nil, err
	}
	waits := l.outboxFor(record.Handle, launch, held.config.Registry())
	look := func(byClock bool) bool {
		held.follow(ctx)
		return waits.look(context.WithoutCancel(ctx), byClock) // a deliverer goes on after claude has ended
	}
	if c, err = l.startChild(&record, launch, look, signals); err != nil {
		return nil, nil, err
	}
	if err = l.noteStart(ctx, handle, c); err != nil {
		return nil, nil, errors.Join(err, c.takeBack())
	}
	return c, func() {
		held.release()
		files := l.Store.TurnFiles(launch.Invocation)
		next.Launch.Brief, _ = files.Take(turnfiles.Briefing) // what this claude did not read, the next one may read
		_ = files.Drop()                                      // what stays is removed later
		<-c.looked                                            // a look uses the store, which the caller closes
		c.dropEntry()
	}, nil
}

// announce writes the launcher's own identity into the record before claude can exist. Errors: [agent.ErrSuperseded]
// when a later start has taken over the record.
func (l *Launcher) announce(ctx context.Context, handle agent.Handle, launch store.Launch) (agent.Record, error) {
	self, err := l.Machine.Self()
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
		r.Process.Launcher, r.Process.Version = self.Identified, l.Version
		if config, err := claude.ConfigOf(&r.Spec, launch.Env); err == nil {
			r.Process.Transcripts = config.TranscriptFolder()
		}
		r.Process.Tmux = l.place(launch.TmuxSocket)
		return nil
	})
}

// place returns the tmux server in which this launcher leads a pane, from $TMUX: path, pid and session, separated by
// commas. Nil for a launcher that a person started.
func (l *Launcher) place(socket string) *agent.TmuxPlace {
	path, rest, inTmux := strings.Cut(l.Pane["TMUX"], ",")
	if socket == "" || !inTmux {
		return nil
	}
	pid, _, _ := strings.Cut(rest, ",")
	place := &agent.TmuxPlace{Socket: socket, Path: path}
	if place.ServerPID, _ = strconv.Atoi(pid); place.ServerPID > 0 {
		if id, err := l.Machine.Identify(place.ServerPID); err == nil {
			place.ServerStartTicks = id.StartTicks
		}
	}
	return place
}

// ours returns the variables that only the launcher knows: the agent's identity, and its terminal. They override the
// caller's.
func (l *Launcher) ours(record *agent.Record, id agent.Invocation) map[string]string {
	env := map[string]string{
		agent.HandleVariable:     string(record.Handle),
		agent.RootVariable:       l.Store.Project(), // the record's is out of date if the folder was moved or copied
		agent.InvocationVariable: string(id),
		"PWD":                    record.LaunchCwd(),
	}
	maps.Copy(env, l.state()) // hooks find the archive where the verbs do, whatever the record's variables say
	maps.Copy(env, l.Pane)
	return env
}

// noteStart writes claude's identity into the record.
func (l *Launcher) noteStart(ctx context.Context, handle agent.Handle, child *child) error {
	identity, err := l.Machine.Identify(child.pid())
	if err != nil && !child.ended() {
		return fmt.Errorf("identify claude: %w", err)
	}
	record, err := l.Store.Update(ctx, handle, func(r *agent.Record) error {
		if err := checkWanted(r, child.launch.Invocation); err != nil {
			return err
		}
		identity.PID = child.pid() // kept even if it has already ended
		r.PID = identity.PID
		r.Process.Identified = identity.Identified
		r.Started = stamp(child.started)
		return nil
	})
	if err != nil {
		return err
	}
	return l.journal(ctx, "start", &record, cmdline.Opening(child.launch.Opening).Conversation()+", model "+cmp.Or(string(record.Model), "of Claude's choice"))
}

// checkWanted is checkCurrent for a start: an agent that was stopped in between must not start.
func checkWanted(r *agent.Record, id agent.Invocation) error {
	if err := checkCurrent(r, id); err != nil {
		return err
	}
	if r.Desired == agent.DesiredStopped {
		return fail.Errorf(fail.Conflict, "the agent was stopped before it started")
	}
	return nil
}

// checkCurrent checks that the record names this start. Errors: [agent.ErrSuperseded].
func checkCurrent(r *agent.Record, id agent.Invocation) error {
	if r.Process == nil || r.Process.Invocation != id {
		return agent.ErrSuperseded
	}
	return nil
}
