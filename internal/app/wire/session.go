package wire

import (
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/store/archive"
	"nbs-worker/internal/team/attention"
	"nbs-worker/internal/team/inspect"
	"nbs-worker/internal/team/observe"
)

// Session is everything that is known of an agent.
type Session struct {
	Agent

	Retry            *Retry            `json:"retry,omitempty"`
	Adopted          bool              `json:"adopted"`      // a person started it by hand; it has no launcher
	RecordedPID      *int              `json:"recorded_pid"` // of the last start, running or not
	TmuxAlive        *bool             `json:"tmux_alive"`   // null: tmux did not answer
	UptimeS          *int64            `json:"uptime_s"`
	Created          *time.Time        `json:"created"`
	ClaudeArgs       []string          `json:"claude_args"`
	Settings         string            `json:"settings,omitempty"` // Claude's, beside those that every agent gets: an object in JSON
	Env              map[string]string `json:"env"`                // of the record, without the caller's own variables
	MayManage        bool              `json:"may_manage"`
	Memory           bool              `json:"memory"`  // its memory is on: nbs-worker memory
	Answers          bool              `json:"answers"` // commands can answer what it asks, from its next start on
	Depth            int               `json:"depth"`   // the number of agents between it and a person
	ClaudeVersion    string            `json:"claude_version,omitempty"`
	LauncherVersion  string            `json:"launcher_version,omitempty"` // of the nbs-worker that leads it while it runs; "": not known
	InitialPrompt    string            `json:"initial_prompt"`
	ConfigDir        string            `json:"config_dir"`
	Transcript       *Transcript       `json:"transcript"`
	Kept             archive.Freshness `json:"kept"` // the state of the archive's copy of the transcript
	Usage            *Usage            `json:"usage"`
	PreviousSessions []PreviousSession `json:"previous_sessions"`
	LastExit         *Exit             `json:"last_exit"`
	LastError        *LastError        `json:"last_error"`        // of the last turn
	Unsaved          string            `json:"unsaved,omitempty"` // why its turns are being lost, for example: Claude cannot write its transcript
	Advice           []string          `json:"advice"`            // the commands to run next, in order
	Drift            []Drift           `json:"drift"`
	OtherClaudes     []OtherClaude     `json:"other_claudes"` // with the conversation open
}

// Transcript is Claude's own file of a conversation.
type Transcript struct {
	Path     string     `json:"path"`
	Bytes    int64      `json:"bytes"`
	Modified *time.Time `json:"modified"`
}

// PreviousSession is a conversation that the agent was in before.
type PreviousSession struct {
	SessionID agent.SessionID `json:"session_id"`
	Until     *time.Time      `json:"until"`
	Reason    string          `json:"reason"`
	Name      string          `json:"name,omitempty"` // that a person gave to the session of a conversation
}

// Exit is how a start ended.
type Exit struct {
	At         *time.Time       `json:"at"` // when it ended; if no launcher saw the end, when it was found: code and uptime_s are then null
	Invocation agent.Invocation `json:"invocation"`
	Code       *int             `json:"code"` // null: a signal ended it, or no launcher saw the end
	Signal     string           `json:"signal,omitempty"`
	HungUp     bool             `json:"hung_up,omitempty"` // its terminal was closed
	UptimeS    *int64           `json:"uptime_s"`
	Error      string           `json:"error,omitempty"` // why claude was not started
	Cause      string           `json:"cause,omitempty"` // found by a later look
	Reason     string           `json:"reason,omitempty"`
	LastScreen string           `json:"last_screen,omitempty"`
	OOMKills   uint64           `json:"oom_kills,omitempty"`
}

// LastError is the error of the API with which a turn ended.
type LastError struct {
	Class string     `json:"class"`
	At    *time.Time `json:"at"`
	Text  string     `json:"text,omitempty"`
}

// OtherClaude is a running claude that has an agent's conversation open and is not the agent's.
type OtherClaude struct {
	PID int    `json:"pid"`
	Cwd string `json:"cwd"`
}

// NewSession converts a view of an agent. advice is the list of commands to run next.
func NewSession(v inspect.View, advice []string, judge *attention.Judge) Session {
	r := &v.Record
	row := &inspect.Row{Handle: r.Handle, Sight: v.Sight, Context: v.Context, Cost: v.Cost}
	out := Session{
		Agent: NewAgent(row, judge), Retry: newRetry(v.Status.Retry),
		Adopted: r.Process != nil && r.Process.Adopted != nil, RecordedPID: pid(r.PID), Created: timeOf(r.Created),
		ClaudeArgs: list(r.ClaudeArgs), Settings: r.Settings, Env: dictionary(r.Env), MayManage: r.MayManage, Memory: r.Memory, Answers: r.TakesAnswers() && v.HooksOff == "", Depth: r.Depth, ClaudeVersion: r.ClaudeVersion, InitialPrompt: r.InitialPrompt, ConfigDir: r.ConfigDir,
		Kept: v.Kept, Usage: (*Usage)(v.Usage), LastExit: newExit(r.LastExit()), Unsaved: v.Unsaved, Advice: list(advice),
		PreviousSessions: agent.Mapped(r.PreviousSessions, func(p agent.PreviousSession) PreviousSession {
			return PreviousSession{SessionID: p.SessionID, Until: timeOf(p.Until), Reason: p.Reason}
		}),
		Drift:        agent.Mapped(v.Drift, func(d observe.Drift) Drift { return Drift(d) }),
		OtherClaudes: agent.Mapped(v.Strangers, func(other observe.Stranger) OtherClaude { return OtherClaude(other) }),
	}
	if v.Err == nil {
		out.TmuxAlive = new(v.Pane != nil)
	}
	if v.Status.SamePID {
		out.UptimeS = new(int64(v.Status.Uptime / time.Second))
		if r.Process != nil {
			out.LauncherVersion = r.Process.Version
		}
	}
	if t := v.Transcript; t != nil {
		out.Transcript = &Transcript{Path: t.Path, Bytes: t.Size, Modified: timeOf(t.Modified)}
	}
	if last := v.LastError; last != nil {
		out.LastError = &LastError{Class: last.Class, At: timeOf(last.At), Text: last.Text}
	}
	return out
}

func newExit(e *agent.Exit) *Exit {
	if e == nil {
		return nil
	}
	out := &Exit{
		At: timeOf(e.At), Invocation: e.Invocation, Signal: e.Signal, HungUp: e.HungUp, Error: e.Error, Cause: string(e.Cause),
		Reason: e.EndReason, LastScreen: e.LastScreen, OOMKills: e.OOMKills,
	}
	if e.Code >= 0 {
		out.Code = &e.Code
	}
	if e.Seen() {
		out.UptimeS = &e.UptimeS
	}
	return out
}

// Usage is what the processes of an agent use of the machine.
type Usage struct {
	RSS        uint64  `json:"rss_bytes"`
	CPUSeconds float64 `json:"cpu_seconds"`
	Read       uint64  `json:"read_bytes"`    // from disks
	Written    uint64  `json:"written_bytes"` // to disks
	Processes  int     `json:"processes"`
}

// Drift is a difference between a record and the running process.
type Drift struct {
	Field    string `json:"field"`
	Recorded string `json:"recorded"`
	Live     string `json:"live"`
}
