package supervisor

import (
	"context"
	"path/filepath"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/claude"
)

// Spawn describes a new agent.
type Spawn struct {
	Handle         agent.Handle
	Model          agent.Model
	PermissionMode agent.PermissionMode
	Cwd            string // absolute; "" for the project root, or where an adopted conversation was held
	Env            map[string]string
	ClaudeArgs     []string
	SessionID      agent.SessionID // an existing conversation to adopt; "" mints an id
	Start
}

// Started is what a start led to.
type Started struct {
	Plan
	Record agent.Record
	Status agent.Status
	Fresh  bool // a new conversation took the place of another
}

// PlanSpawn checks all that can be known of a spawn and changes nothing.
func (s *Supervisor) PlanSpawn(spawn Spawn) (Plan, error) {
	if err := s.Store.CheckFree(spawn.Handle); err != nil {
		return Plan{}, err
	}
	r, err := s.newRecord(spawn)
	if err != nil {
		return Plan{}, err
	}
	if err := claude.CheckExtraArgs(r.ClaudeArgs); err != nil {
		return Plan{}, err
	}
	if err := r.Validate(); err != nil {
		return Plan{}, err
	}
	return s.plan(r, spawn.Start)
}

// Spawn starts a new agent. Its record, with the session id, is durable before
// anything runs, and stays whatever happens then.
func (s *Supervisor) Spawn(ctx context.Context, spawn Spawn) (Started, error) {
	unlock, err := s.Store.LockVerb(spawn.Handle, "spawn", s.now())
	if err != nil {
		return Started{}, err
	}
	defer unlock()
	plan, err := s.PlanSpawn(spawn)
	if err != nil {
		return Started{}, err
	}
	if _, err := s.Tmux(s.Socket); err != nil {
		return Started{}, err
	}
	if err := s.Store.Insert(ctx, plan.Record); err != nil {
		return Started{}, err
	}
	if err := s.journal("spawn", &plan.Record, string(plan.Opening)); err != nil {
		return Started{}, err
	}
	r, err := s.launch(ctx, plan, spawn.Wait)
	if err != nil {
		return Started{}, withRecordKept(err, spawn.Handle)
	}
	return s.started(ctx, plan, r), nil
}

// withRecordKept says what became of the record of an agent that did not start.
func withRecordKept(err error, handle agent.Handle) error {
	switch agent.KindOf(err) {
	case agent.Held, agent.TimedOut, agent.Interrupted:
		return err // it runs
	default:
		return agent.Errorf(agent.KindOf(err), "%w", err).
			Hint("its record is kept: nbs-worker resume %s tries again, nbs-worker dismiss %s removes it", handle, handle)
	}
}

// launch starts the planned agent, waits for it and checks what runs.
func (s *Supervisor) launch(ctx context.Context, p Plan, wait time.Duration) (agent.Record, error) {
	r, err := s.begin(ctx, p)
	if err != nil {
		return r, err
	}
	if r, err = s.await(ctx, p, r, wait); err != nil {
		return r, err
	}
	if err := s.verify(ctx, r); err != nil {
		return r, err
	}
	return s.Store.Update(ctx, r.Handle, func(r *agent.Record) error {
		noteTranscript(r, p.config, s.now())
		if live, err := s.registered(r); err == nil {
			r.ClaudeVersion = live.Version
		}
		return nil
	})
}

func (s *Supervisor) started(ctx context.Context, p Plan, r agent.Record) Started {
	_, panes, _ := s.panes(ctx, &r)
	return Started{Plan: p, Record: r, Status: s.status(&r, panes)}
}

func (s *Supervisor) newRecord(spawn Spawn) (agent.Record, error) {
	now := s.now()
	r := agent.Record{
		Schema: agent.Schema, Handle: spawn.Handle, SessionID: spawn.SessionID, Model: spawn.Model,
		Started: now, Created: now, InitialPrompt: spawn.Prompt, ProjectRoot: s.Store.Project(),
		Cwd: spawn.Cwd, PermissionMode: spawn.PermissionMode, ClaudeArgs: spawn.ClaudeArgs, Env: spawn.Env,
		ConfigDir: s.variable(claude.ConfigDirVariable), Desired: agent.DesiredRunning,
		Restart: agent.RestartPolicy{Policy: "no"},
	}
	r.TmuxSession = s.sessionNames(&r)[0]
	if r.ConfigDir != "" {
		dir, err := filepath.Abs(r.ConfigDir)
		if err != nil {
			return r, err
		}
		r.ConfigDir = dir
	}
	if spawn.SessionID == "" {
		r.SessionID = agent.NewSessionID()
	} else if err := s.adopt(&r); err != nil {
		return r, err
	}
	if r.Cwd == "" {
		r.Cwd = r.ProjectRoot
	}
	return r, nil
}

// adopt points a new record at a conversation that exists. It runs where it was
// held: up to 2.1.197 claude does not find it from elsewhere.
func (s *Supervisor) adopt(r *agent.Record) error {
	config, err := claude.ConfigOf(r, s.Env)
	if err != nil {
		return err
	}
	transcript, found, err := config.Transcript(r.SessionID)
	if err != nil {
		return err
	}
	if !found {
		return agent.Errorf(agent.NotFound, "no conversation %s in Claude's configuration", r.SessionID).
			Hint("leave --session-id away for a new conversation")
	}
	r.TranscriptSeen = s.now()
	if r.Cwd == "" {
		r.Cwd, err = transcript.LastCwd()
	}
	if err != nil {
		return err
	}
	return s.checkUnrecorded(r)
}

// checkUnrecorded refuses a conversation that another agent of the project has.
func (s *Supervisor) checkUnrecorded(r *agent.Record) error {
	handles, err := s.Store.Handles()
	if err != nil {
		return err
	}
	for _, handle := range handles {
		other, err := s.Store.Load(handle)
		if err == nil && other.SessionID == r.SessionID {
			return agent.Errorf(agent.Conflict, "the conversation %s belongs to agent %s", r.SessionID, handle).
				Hint("nbs-worker resume %s", handle)
		}
	}
	return nil
}
