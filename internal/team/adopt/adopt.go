// Package adopt finds claudes that were started by hand, and makes records of them. It writes nothing and does not
// touch the process, its terminal or its files.
//
//   - All data about a process belongs to that very process: at the end it is checked to be still alive.
//   - If it cannot be found out how the process was started, the user is asked for all missing data at once.
package adopt

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/claude"
	"nbs-worker/internal/claude/cmdline"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
	"nbs-worker/internal/platform/folder"
	"nbs-worker/internal/team/lineage"
	"nbs-worker/internal/team/observe"
)

// Request describes a claude that was started by hand and should get a record, with what its user says about it.
type Request struct {
	Handle  agent.Handle
	PID     int    // 0: the claude in Session
	Session string // of tmux, by its exact name

	Model          *agent.Model         // nil: from its command line
	PermissionMode agent.PermissionMode // "": from its command line
	Cwd            string               // "": the folder where it runs
	Env            map[string]string
	ClaudeArgs     []string
	ArgsGiven      bool // ClaudeArgs are given at each start, instead of those of its command line
}

// search searches for claudes that were started by hand.
type search struct{ project *observe.Project }

// Plan returns the record of an adoption. Errors: NotFound; BadInput; Conflict; Held.
func Plan(ctx context.Context, o *observe.Project, a Request) (agent.Record, error) {
	s := search{o}
	if err := s.project.Store.CheckFree(a.Handle); err != nil {
		return agent.Record{}, err
	}
	if a.PID == 0 {
		pid, err := s.claudeIn(ctx, a.Session)
		if err != nil {
			return agent.Record{}, err
		}
		a.PID = pid
	}
	found, err := s.find(a.PID)
	if err != nil {
		return agent.Record{}, err
	}
	r, err := s.recordOf(ctx, a, found)
	if err != nil {
		return agent.Record{}, err
	}
	if err := r.Validate(); err != nil {
		return r, err
	}
	if err := s.project.CheckUnrecorded(&r); err != nil {
		return r, err
	}
	strangers, err := s.project.Strangers(&r)
	if err != nil {
		return r, err
	}
	if err := s.project.ErrStranger(&r, strangers); err != nil {
		return r, err
	}
	if !o.Machine.IsAlive(found.Identity) { // if it is alive, all data came from that very process
		return r, fail.Errorf(fail.NotFound, "process %d has ended", a.PID)
	}
	return r, nil
}

// recordOf makes a record from what is known about a process and what its user says.
func (s search) recordOf(ctx context.Context, a Request, f handStarted) (agent.Record, error) {
	started := time.UnixMilli(f.live.StartedMS).UTC().Truncate(time.Second)
	r := agent.Record{
		Spec: agent.Spec{
			Schema: agent.Schema, Handle: a.Handle, SessionID: f.live.SessionID, ProjectRoot: s.project.Store.Project(), Env: a.Env,
			ConfigDir: f.configDir, Restart: agent.RestartPolicy{Policy: agent.RestartNo},
		},
		Started: started, Created: started, PID: f.PID, ClaudeVersion: f.live.Version, Desired: agent.DesiredRunning,
		Process: &agent.Process{
			Invocation: agent.NewInvocation(), Identity: f.Identity, Transcripts: f.config.TranscriptFolder(),
			Adopted: &agent.Adoption{At: s.project.Seconds(), RegisteredMS: f.live.StartedMS},
		},
	}
	if id, err := agent.ParseSessionID(string(r.SessionID)); err != nil || id != r.SessionID {
		return r, fail.Errorf(fail.BadInput, "its session id %s is not a UUID in lower case", human.Quote(string(r.SessionID)))
	}
	if err := s.take(&r, a, f); err != nil {
		return r, err
	}
	observe.NoteTranscript(&r, f.config, s.project.Seconds())
	place := s.placeOf(ctx, f.PID)
	r.Process.Tmux, r.Process.Adopted.Pane = place.server, place.pane
	if agent.CheckTmuxName(place.session) == nil {
		r.TmuxSession = place.session
	}
	return r, nil
}

// take sets how the agent is to be started again. It asks for all unknown data at once.
func (s search) take(r *agent.Record, a Request, f handStarted) (err error) {
	launched := cmdline.ReadLaunch(f.Cmdline)
	model, mode := f.config.LastWords(r.SessionID)
	ask := &asking{}
	if a.Model != nil {
		r.Model = *a.Model
	} else if r.Model, err = agent.ParseModel(launched.Model); err != nil || r.Model == "" {
		ask.want("the model (--model is not on its command line)", "--model MODEL", "its last reply came from", model)
		ask.notes = append(ask.notes, "to leave the choice of the model to Claude at each start: --model ''")
	}
	if r.PermissionMode = a.PermissionMode; r.PermissionMode == "" {
		if r.PermissionMode, err = agent.ParsePermissionMode(launched.PermissionMode); err != nil {
			missing := "the permission mode (it is not on its command line)"
			if launched.PermissionMode != "" {
				missing = "the permission mode (its command line has the unknown mode " + human.Quote(launched.PermissionMode) + ")"
			}
			ask.want(missing, "--permission-mode MODE", "its transcript last has the permission mode", mode)
		}
	}
	if r.Cwd = a.Cwd; r.Cwd == "" {
		if r.Cwd = f.startedIn(); f.Cwd != folder.Real(f.live.Cwd) {
			ask.want(fmt.Sprintf("its folder (it runs in %s, and Claude's registry has %s)", human.Quote(f.Cwd), human.Quote(f.live.Cwd)), "--cwd FOLDER", "", "")
		}
	}
	if r.ClaudeArgs = a.ClaudeArgs; !a.ArgsGiven {
		r.ClaudeArgs = launched.Extra
		if unclear := slices.Concat(launched.Lost, launched.Unclear); len(unclear) > 0 {
			ask.want(fmt.Sprintf("its arguments (it is unclear how to give %s again)", strings.Join(unclear, ", ")), "-- ARGS", "", "")
			ask.notes = append(ask.notes, "after --, give the arguments that claude gets at each start, or nothing")
		}
	}
	if err := ask.err(a); err != nil {
		return err
	}
	if err := cmdline.CheckExtraArgs(r.ClaudeArgs); err != nil {
		return err
	}
	return claude.CheckEnv(r.Env)
}

// asking collects what the user must say about a process that is to be adopted.
type asking struct{ missing, flags, notes []string }

// want asks for a fact. last is what the transcript has of it; "": nothing.
func (q *asking) want(missing, flag, of, last string) {
	q.missing, q.flags = append(q.missing, missing), append(q.flags, flag)
	if last != "" {
		q.notes = append(q.notes, of+" "+human.Quote(last))
	}
}

func (q *asking) err(a Request) error {
	if len(q.missing) == 0 {
		return nil
	}
	err := fail.Errorf(fail.BadInput, "these facts about pid %d are unknown, and must be given: %s", a.PID, strings.Join(q.missing, "; ")).
		Hint("nbs-worker adopt %s --pid %d %s", a.Handle, a.PID, strings.Join(q.flags, " "))
	for _, note := range q.notes {
		err = err.Hint("%s", note)
	}
	return err
}

// place is where in tmux a process runs.
type place struct {
	server  *agent.TmuxPlace // nil: not in tmux, or the socket of the server is unknown
	pane    string
	session string // name
}

// placeOf finds the tmux server above a process, and its pane there.
func (s search) placeOf(ctx context.Context, pid int) place {
	chain := s.project.Machine.AncestorsOf(pid)
	var server agent.Identity
	for _, ancestor := range chain {
		if lineage.IsTmuxServer(s.project.Machine, ancestor) {
			server, _ = s.project.Machine.Identify(ancestor)
			break
		}
	}
	path, _ := s.project.Machine.Variable(pid, "TMUX")
	path, _, _ = strings.Cut(path, ",")
	if server.PID == 0 || path == "" || agent.CheckPath("tmux path", path) != nil {
		return place{}
	}
	client, err := s.project.Tmux(path)
	if err != nil {
		return place{}
	}
	if listening, err := client.ServerPID(); err != nil || listening != server.PID {
		return place{} // the variable came from another place
	}
	at := place{server: &agent.TmuxPlace{Socket: s.socketName(path), Path: path, ServerPID: server.PID, ServerStartTicks: server.StartTicks}}
	panes, _ := client.Panes(ctx)
	for _, pane := range panes {
		for _, ancestor := range chain {
			if pane.PID == ancestor {
				at.pane, at.session = pane.ID, pane.Session
			}
		}
	}
	return at
}

// socketName returns a socket in the form of a record: its name if tmux -L would find it, otherwise its path.
func (s search) socketName(path string) string {
	name := path[strings.LastIndexByte(path, '/')+1:]
	if client, err := s.project.Tmux(name); err == nil && client.Path() == path {
		return name
	}
	return path
}
