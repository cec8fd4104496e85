package wire

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/store/journal"
	"nbs-worker/internal/team/adopt"
	"nbs-worker/internal/team/doctor"
	"nbs-worker/internal/team/history"
	"nbs-worker/internal/team/inspect"
	"nbs-worker/internal/team/launch"
	"nbs-worker/internal/team/supervisor"
	"nbs-worker/internal/team/wait"
)

// Started is the outcome of a start.
type Started struct {
	Handle         agent.Handle         `json:"handle"`
	SessionID      agent.SessionID      `json:"session_id"`
	Opened         string               `json:"opened"` // "new" or "resumed"
	Model          agent.Model          `json:"model"`
	PermissionMode agent.PermissionMode `json:"permission_mode"`
	PID            *int                 `json:"pid"`
	State          string               `json:"state"`
	Cause          string               `json:"cause,omitempty"`
	Cwd            string               `json:"cwd"`
	TmuxSession    string               `json:"tmux_session"`
	Previous       agent.SessionID      `json:"previous_session_id,omitempty"` // replaced by --fresh
	WorksIn        string               `json:"works_in,omitempty"`            // the folder of its session, if not cwd: it has entered that folder before
	OutOf          string               `json:"out_of_worktree,omitempty"`     // the git worktree that Claude did not go back to: it works in cwd
	Unsaved        string               `json:"unsaved,omitempty"`             // why its turns are being lost
	MovedFrom      string               `json:"moved_from,omitempty"`          // the folder that was recorded before
	Restored       *Restored            `json:"restored,omitempty"`            // its transcript, if it was gone or shortened and was put back
	Lost           *Loss                `json:"lost,omitempty"`                // what was cut off its transcript; no copy has it
	Unsaid         string               `json:"undelivered_prompt,omitempty"`  // the recorded first prompt, which was never delivered because another one was sent
	Briefed        []string             `json:"briefed_from,omitempty"`        // sources of its briefing: memory, transcript
}

// Restored is a transcript that was put back.
type Restored struct {
	From    string     `json:"from"`
	To      string     `json:"to"`
	Written *time.Time `json:"written"` // when it was last written
	What    string     `json:"what"`    // what had happened to the transcript: "was gone", for example
}

// Loss is what was cut off a transcript.
type Loss struct {
	Path  string `json:"path"`
	Bytes int64  `json:"bytes"` // at least; 0: unknown
}

// NewStarted converts a successful start.
func NewStarted(s supervisor.Started) Started {
	r, planned := &s.Record, NewPlan(s.Plan)
	out := Started{
		Handle: r.Handle, SessionID: r.SessionID, Opened: planned.Opened, Model: r.Model, PermissionMode: r.LaunchPermissionMode(),
		PID: pid(r.PID), Cwd: r.LaunchCwd(), WorksIn: s.WorksIn, OutOf: s.OutOf, Unsaved: s.Unsaved, TmuxSession: r.TmuxSession, MovedFrom: planned.MovedFrom, Lost: planned.Lost, Unsaid: s.Unsaid,
	}
	out.Briefed = sources(s.Briefed)
	out.State, out.Cause = s.Status.Words()
	if n := len(r.PreviousSessions); n > 0 && s.Fresh {
		out.Previous = r.PreviousSessions[n-1].SessionID
	}
	if back := s.Restored; back != nil {
		out.Restored = &Restored{From: back.From, To: back.To, Written: timeOf(back.Written.Truncate(time.Second)), What: back.What}
	}
	return out
}

// Plan says what a start would do.
type Plan struct {
	Handle         agent.Handle         `json:"handle"`
	SessionID      agent.SessionID      `json:"session_id"`
	Opened         string               `json:"opened"`
	Program        string               `json:"program"`
	Args           []string             `json:"args"`
	Cwd            string               `json:"cwd"`
	ConfigDir      string               `json:"config_dir"`
	Env            map[string]string    `json:"env"` // of the record
	PermissionMode agent.PermissionMode `json:"permission_mode"`
	MayManage      bool                 `json:"may_manage"`
	TmuxSession    string               `json:"tmux_session"`
	MovedFrom      string               `json:"moved_from,omitempty"`
	Restores       string               `json:"restores_transcript,omitempty"` // path of the copy that would be put back
	Lost           *Loss                `json:"lost,omitempty"`
}

// NewPlan converts a planned start.
func NewPlan(p launch.Plan) Plan {
	r := &p.Record
	out := Plan{
		Handle: r.Handle, SessionID: r.SessionID, Opened: p.Opening.Word(), Program: p.Program, Args: list(p.Args),
		Cwd: r.LaunchCwd(), ConfigDir: r.ConfigDir, Env: dictionary(r.Env), PermissionMode: r.LaunchPermissionMode(), MayManage: r.MayManage,
		TmuxSession: r.TmuxSession,
	}
	if p.Moved != nil {
		out.MovedFrom = p.Moved.From
	}
	if p.Restores != nil {
		out.Restores = p.Restores.Path
	}
	if p.Loss != nil {
		out.Lost = &Loss{Path: p.Loss.Path, Bytes: p.Loss.Bytes}
	}
	return out
}

// Ended is the outcome of a stop or a dismissal.
type Ended struct {
	Handle    agent.Handle    `json:"handle"`
	SessionID agent.SessionID `json:"session_id"`
	Result    string          `json:"result"`            // "stopped" or "dismissed"
	Was       string          `json:"was"`               // the state before
	Unsaved   string          `json:"unsaved,omitempty"` // why the last messages may be missing in the transcript
	Kept      []string        `json:"kept_transcripts,omitempty"`
	Dropped   int             `json:"dropped_messages,omitempty"` // from its outbox; the journal has them

	Worktree     string `json:"worktree,omitempty"`      // that was made for it and stays
	KeptWorktree string `json:"kept_worktree,omitempty"` // the ref that has all of its removed worktree
}

// NewEnded converts a stop or a dismissal.
func NewEnded(s supervisor.Stopped, result string) Ended {
	was, _ := s.Was.Words()
	out := Ended{
		Handle: s.Record.Handle, SessionID: s.Record.SessionID, Result: result, Was: was, Unsaved: s.Unsaved, Kept: s.Kept, Dropped: s.Dropped,
		Worktree: s.TreeLeft,
	}
	if s.Tree != nil {
		out.KeptWorktree = s.Tree.Kept.Ref
	}
	return out
}

// Adopted is a claude that was given a record.
type Adopted struct {
	Handle         agent.Handle         `json:"handle"`
	SessionID      agent.SessionID      `json:"session_id"`
	Model          agent.Model          `json:"model"`
	PermissionMode agent.PermissionMode `json:"permission_mode"`
	ClaudeArgs     []string             `json:"claude_args"`
	Cwd            string               `json:"cwd"`
	ConfigDir      string               `json:"config_dir"`
	PID            *int                 `json:"pid"`
	State          string               `json:"state"`
	Cause          string               `json:"cause,omitempty"`
	TmuxSession    string               `json:"tmux_session"`
}

// NewAdopted converts an adoption.
func NewAdopted(a supervisor.Adopted) Adopted {
	r := &a.Record
	out := Adopted{
		Handle: r.Handle, SessionID: r.SessionID, Model: r.Model, PermissionMode: r.PermissionMode, ClaudeArgs: list(r.ClaudeArgs),
		Cwd: r.Cwd, ConfigDir: r.ConfigDir, PID: pid(r.PID), TmuxSession: r.TmuxSession,
	}
	out.State, out.Cause = a.Status.Words()
	return out
}

// Unrecorded is a Claude session that no record of the project covers.
type Unrecorded struct {
	PID       int             `json:"pid"`
	SessionID agent.SessionID `json:"session_id,omitempty"`
	State     string          `json:"state"`
	Cwd       string          `json:"cwd"`
	Tmux      string          `json:"tmux,omitempty"`
	Agent     agent.Handle    `json:"agent,omitempty"`   // the agent that it already is
	Project   string          `json:"project,omitempty"` // of that agent, if it is another project
	OpenIn    []int           `json:"also_open_in"`      // pids
	Command   string          `json:"command,omitempty"` // to adopt it
	Obstacle  string          `json:"obstacle,omitempty"`
}

// NewUnrecorded converts a session without a record.
func NewUnrecorded(u adopt.Unrecorded) Unrecorded {
	out := Unrecorded{
		PID: u.PID, SessionID: u.SessionID, State: cmp.Or(u.State, string(agent.Unknown)), Cwd: u.Cwd, Tmux: u.Tmux,
		Agent: u.Agent, Project: u.Project, OpenIn: list(u.OpenIn), Obstacle: u.Obstacle,
	}
	if len(u.OpenIn) > 0 {
		out.Obstacle = strings.TrimPrefix(fmt.Sprintf("%s; pid %d also has the conversation open", u.Obstacle, u.OpenIn[0]), "; ")
	}
	if out.Obstacle == "" {
		out.Command = fmt.Sprintf("nbs-worker adopt HANDLE --pid %d", u.PID)
	}
	return out
}

// Waited is how an agent was when a wait ended.
type Waited struct {
	Handle   agent.Handle `json:"handle"`
	State    string       `json:"state"`
	Cause    string       `json:"cause,omitempty"`
	Question *Question    `json:"question,omitempty"` // of one that waits
	Met      bool         `json:"met"`                // the condition holds
	Context  *Context     `json:"context"`            // only for context-below
	Needs    *Need        `json:"needs"`              // only for needs; null: it needs no person
}

// NewWaited converts the outcome of a wait for an agent.
func NewWaited(w wait.Waited, bands agent.Bands, now time.Time) Waited {
	out := Waited{Handle: w.Handle, Met: w.Met, Context: newContext(w.Context, bands, now), Needs: NewNeed(w.Need)}
	out.State, out.Cause = w.Status.Words()
	out.Question = newQuestion(string(w.Dialog), w.Asked)
	return out
}

// Event is a line of the journal.
type Event struct {
	At         *time.Time       `json:"at"`
	Event      string           `json:"event"`
	Handle     agent.Handle     `json:"handle"`
	SessionID  agent.SessionID  `json:"session_id"`
	Invocation agent.Invocation `json:"invocation,omitempty"`
	PID        *int             `json:"pid"`
	Detail     string           `json:"detail,omitempty"`
}

// NewEvent converts an event of the journal.
func NewEvent(e journal.Event) Event {
	return Event{At: timeOf(e.At), Event: e.Event, Handle: e.Handle, SessionID: e.SessionID, Invocation: e.Invocation, PID: pid(e.PID), Detail: e.Detail}
}

// Verification is the outcome of a check of the journal's chain.
type Verification struct {
	Whole   bool   `json:"whole"`
	Lines   int    `json:"lines"`
	Chained int    `json:"chained"`
	Torn    []int  `json:"torn"` // numbers of the lines that are not events
	Head    bool   `json:"head"` // the end of the chain is known
	File    string `json:"file,omitempty"`
	Line    int    `json:"line,omitempty"` // where it is broken
	What    string `json:"what,omitempty"`
}

// NewVerification converts the outcome of a verification.
func NewVerification(v journal.Verification) Verification {
	out := Verification{Whole: v.Broken == nil, Lines: v.Lines, Chained: v.Links, Torn: list(v.Torn), Head: !v.NoHead}
	if v.Broken != nil {
		out.File, out.Line, out.What = v.Broken.File, v.Broken.Line, v.Broken.What
	}
	return out
}

// Said is a message of a conversation, or the heading of a conversation.
type Said struct {
	SessionID agent.SessionID `json:"session_id"`
	At        *time.Time      `json:"at"`
	Who       string          `json:"who"` // you, agent, tool, claude, compacted, session
	Text      string          `json:"text"`
	Tool      string          `json:"tool,omitempty"`
	Failure   string          `json:"failure,omitempty"` // class of the API's error in the text
	Model     string          `json:"model,omitempty"`
	Aside     bool            `json:"aside,omitempty"` // neither a person nor the agent said it
	Subagent  bool            `json:"subagent,omitempty"`
	Bytes     int64           `json:"bytes,omitempty"` // of a record that is too long to read
	Until     *time.Time      `json:"until,omitempty"` // of a session: when the agent left it
	Reason    string          `json:"reason,omitempty"`
	Gone      bool            `json:"gone,omitempty"` // the transcript does not exist
}

// NewSaid converts a message.
func NewSaid(m history.Said) Said {
	return Said{
		SessionID: m.SessionID, At: timeOf(m.At), Who: string(m.Speaker), Text: m.Text, Tool: m.Tool, Failure: m.Failure,
		Model: m.Model, Aside: m.Aside, Subagent: m.Subagent, Bytes: m.Bytes,
	}
}

// NewSaidSession converts the heading of a conversation, which precedes its messages.
func NewSaidSession(s history.LogSession, text string) Said {
	return Said{SessionID: s.SessionID, Who: "session", Text: text, Until: timeOf(s.Until), Reason: s.Reason, Gone: s.Gone}
}

// Screen is what an agent's terminal showed.
type Screen struct {
	Handle     agent.Handle `json:"handle"`
	CapturedAt *time.Time   `json:"captured_at"`
	Width      int          `json:"width"`
	Height     int          `json:"height"`
	Text       string       `json:"text"`
	Reading    Reading      `json:"reading"`
}

// Reading is what a screen shows of the agent.
type Reading struct {
	State    string    `json:"state"`
	Dialog   string    `json:"dialog,omitempty"`
	Asks     string    `json:"asks,omitempty"`     // the dialog's question in our words
	Question *Question `json:"question,omitempty"` // the dialog's question as drawn
	Retry    *Retry    `json:"retry,omitempty"`
	Trouble  string    `json:"trouble,omitempty"`
}

// NewScreen converts a parsed screen.
func NewScreen(handle agent.Handle, shot inspect.Shot) Screen {
	reading := shot.Reading
	return Screen{
		Handle: handle, CapturedAt: timeOf(shot.At), Width: shot.Width, Height: shot.Height, Text: shot.Text,
		Reading: Reading{
			State: string(reading.State), Dialog: string(reading.Dialog), Asks: reading.Dialog.Question(), Question: newQuestion(string(reading.Dialog), reading.Asked),
			Retry: newRetry(reading.Retry), Trouble: string(reading.Trouble),
		},
	}
}

// Checkup is what doctor found and did.
type Checkup struct {
	Level        string    `json:"level"` // of the worst finding
	Checks       []Finding `json:"checks"`
	Fixed        []string  `json:"fixed"`
	NotFixed     []string  `json:"not_fixed"`
	NeverTouched []string  `json:"never_touched"`
}

// Finding is what one check found.
type Finding struct {
	ID      string   `json:"id"`
	Level   string   `json:"level"`
	What    string   `json:"what"`
	Why     string   `json:"why"`
	Fix     []string `json:"fix"`
	Fixable bool     `json:"fixable"` // by --fix
}

// NewCheckup converts a checkup.
func NewCheckup(c doctor.Checkup) Checkup {
	return Checkup{
		Level: string(c.Worst()), Fixed: list(c.Done), NotFixed: agent.Mapped(c.Failed, error.Error), NeverTouched: doctor.NeverTouched,
		Checks: agent.Mapped(c.Findings, func(f doctor.Finding) Finding {
			return Finding{ID: f.Check, Level: string(f.Level), What: f.What, Why: f.Why, Fix: list(f.Fix), Fixable: f.ByItself()}
		}),
	}
}
