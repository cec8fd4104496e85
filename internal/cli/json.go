package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/observe"
	"nbs-worker/internal/proc"
	"nbs-worker/internal/store"
	"nbs-worker/internal/supervisor"
)

// The JSON of a command is an interface of its own: explicit fields, not whatever
// the records hold. Times are RFC 3339 in UTC; null or absent means not known.

// printJSON writes one value on one line.
func (f *factory) printJSON(value any) error {
	var text strings.Builder
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return err
	}
	_, err := io.WriteString(f.streams.Out, escaped(text.String()))
	return err
}

// writable is a time in UTC as JSON can have it: one of somebody else's may be beyond, and is
// then no time.
func writable(at time.Time) time.Time {
	const lastYear = 9999
	if at = at.UTC(); at.Year() < 0 || at.Year() > lastYear {
		return time.Time{}
	}
	return at
}

// escaped writes as \u what encoding/json leaves in a string though it steers a
// terminal: the control characters from 7F to 9F, and those of the writing direction.
func escaped(text string) string {
	if !strings.ContainsFunc(text, steers) {
		return text
	}
	var b strings.Builder
	for _, r := range text {
		if steers(r) {
			fmt.Fprintf(&b, `\u%04x`, r)
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

type startedJSON struct {
	Handle         agent.Handle         `json:"handle"`
	SessionID      agent.SessionID      `json:"session_id"`
	Opened         string               `json:"opened"` // "new" or "resumed"
	Model          agent.Model          `json:"model"`
	PermissionMode agent.PermissionMode `json:"permission_mode"`
	PID            int                  `json:"pid"`
	State          agent.State          `json:"state"`
	TmuxSession    string               `json:"tmux_session"`
	Previous       agent.SessionID      `json:"previous_session_id,omitempty"` // replaced by --fresh
	Restored       *restoredJSON        `json:"restored,omitempty"`            // its transcript was gone or shortened, and was put back
	Lost           *lossJSON            `json:"lost,omitempty"`                // what was cut off its transcript, and is in no copy
}

type lossJSON struct {
	Path  string `json:"path"`
	Bytes int64  `json:"bytes"` // at least; 0: not known
}

type restoredJSON struct {
	From    string    `json:"from"`
	To      string    `json:"to"`
	Written time.Time `json:"written"` // the last time before it was gone
}

func newStartedJSON(s supervisor.Started) startedJSON {
	r := s.Record
	out := startedJSON{
		Handle: r.Handle, SessionID: r.SessionID, Opened: s.Opening.Word(), Model: r.Model,
		PermissionMode: r.PermissionMode, PID: r.PID, State: s.Status.State, TmuxSession: r.TmuxSession,
	}
	if back := s.Restored; back != nil {
		out.Restored = &restoredJSON{From: back.From, To: back.To, Written: back.Written.Truncate(time.Second)}
	}
	if lost := s.Loss; lost != nil {
		out.Lost = &lossJSON{Path: lost.Path, Bytes: lost.Bytes}
	}
	if previous := lastPrevious(r); previous != "" && s.Fresh {
		out.Previous = previous
	}
	return out
}

type endedJSON struct {
	Handle    agent.Handle    `json:"handle"`
	SessionID agent.SessionID `json:"session_id"`
	Result    string          `json:"result"` // "stop" or "dismiss"
	Was       string          `json:"was"`
	Kept      []string        `json:"kept_transcripts,omitempty"` // paths in .nbs, after a dismissal
}

type listJSON struct {
	Handle      agent.Handle    `json:"handle"`
	State       agent.State     `json:"state"`
	Cause       agent.Cause     `json:"cause,omitempty"`
	Detail      string          `json:"detail,omitempty"`
	Running     bool            `json:"running"`
	Desired     agent.Desired   `json:"desired"`
	Model       agent.Model     `json:"model"`
	Started     time.Time       `json:"started"`
	PID         *int            `json:"pid"`
	SessionID   agent.SessionID `json:"session_id"`
	TmuxSession string          `json:"tmux_session"`
	Cwd         string          `json:"cwd"`
	StateSource string          `json:"state_source"` // registry, hooks, screen, process or record

	ContextLeftPercent *int        `json:"context_left_percent"`
	ContextBand        *agent.Band `json:"context_band"`
	CostUSD            *float64    `json:"cost_usd"`
}

func newListJSON(row supervisor.Row, bands agent.Bands) listJSON {
	r, status := row.Record, row.Status
	out := listJSON{
		Handle: row.Handle, State: status.State, Cause: status.Cause, Detail: status.Detail, Running: status.Running(),
		Desired: wish(&r), Model: r.Model, Started: r.Started, PID: livePID(r, status),
		SessionID: r.SessionID, TmuxSession: r.TmuxSession, Cwd: r.LaunchCwd(), StateSource: status.Source,
	}
	if row.Context != nil {
		left := row.Context.LeftPercent()
		band := bands.Of(left)
		out.ContextLeftPercent, out.ContextBand = &left, &band
	}
	if row.Cost != nil {
		out.CostUSD = &row.Cost.USD
	}
	return out
}

// wish is what is wanted of an agent. The original tools recorded none, and kept
// records only of agents that should run.
func wish(r *agent.Record) agent.Desired {
	if r.Desired == "" && r.Handle != "" {
		return agent.DesiredRunning
	}
	return r.Desired
}

func livePID(r agent.Record, status agent.Status) *int {
	if !status.SamePID {
		return nil
	}
	return &r.PID
}

type sessionJSON struct {
	listJSON
	StateAgeMS       *int64                  `json:"state_age_ms"` // how long ago the source said so
	WaitingFor       string                  `json:"waiting_for,omitempty"`
	Retry            *retryJSON              `json:"retry,omitempty"`
	SameProcess      bool                    `json:"same_process"` // the recorded pid is that very process
	Adopted          bool                    `json:"adopted"`      // it was started by hand, and has no launcher
	RecordedPID      int                     `json:"recorded_pid"`
	TmuxAlive        bool                    `json:"tmux_alive"`
	UptimeS          *int64                  `json:"uptime_s"`
	Created          time.Time               `json:"created,omitzero"`
	PermissionMode   agent.PermissionMode    `json:"permission_mode"`
	ClaudeArgs       []string                `json:"claude_args"`
	ClaudeVersion    string                  `json:"claude_version,omitempty"`
	InitialPrompt    string                  `json:"initial_prompt"`
	ConfigDir        string                  `json:"config_dir"`
	Context          *contextJSON            `json:"context"`
	Cost             *costJSON               `json:"cost"`
	Transcript       *transcriptJSON         `json:"transcript"`
	Kept             store.Freshness         `json:"kept"` // whether .nbs has the transcript too
	Usage            *proc.Usage             `json:"usage"`
	PreviousSessions []agent.PreviousSession `json:"previous_sessions"`
	LastExit         *agent.Exit             `json:"last_exit"`
	LastError        *supervisor.LastError   `json:"last_error"` // of the last turn; null when it went well
	Advice           []string                `json:"advice"`     // the commands to run next, in order
	Drift            []supervisor.Drift      `json:"drift"`
	OtherClaudes     []observe.Stranger      `json:"other_claudes"` // that have the conversation open
}

type retryJSON struct {
	Attempt int `json:"attempt"`
	Of      int `json:"of"`
	InS     int `json:"in_s"`
}

func newRetryJSON(retry *agent.Retry) *retryJSON {
	if retry == nil {
		return nil
	}
	return &retryJSON{Attempt: retry.Attempt, Of: retry.Of, InS: int(retry.In / time.Second)}
}

func ageMS(status agent.Status) *int64 {
	if status.Age == nil {
		return nil
	}
	ms := status.Age.Milliseconds()
	return &ms
}

func waitingFor(status agent.Status) string {
	if status.State != agent.Waiting {
		return ""
	}
	return status.Detail
}

type transcriptJSON struct {
	Path     string    `json:"path"`
	Bytes    int64     `json:"bytes"`
	Modified time.Time `json:"modified"`
}

func newSessionJSON(v supervisor.View, bands agent.Bands, now time.Time) sessionJSON {
	r := v.Record
	out := sessionJSON{
		listJSON:   newListJSON(supervisor.Row{Handle: r.Handle, Sight: v.Sight, Context: v.Context, Cost: v.Cost}, bands),
		StateAgeMS: ageMS(v.Status), WaitingFor: waitingFor(v.Status), Retry: newRetryJSON(v.Status.Retry),
		SameProcess: v.Status.SamePID, RecordedPID: r.PID, TmuxAlive: v.Pane != nil,
		Created: r.Created, PermissionMode: r.LaunchPermissionMode(), ClaudeArgs: list(r.ClaudeArgs), ClaudeVersion: r.ClaudeVersion,
		InitialPrompt: r.InitialPrompt, ConfigDir: r.ConfigDir, Usage: v.Usage,
		PreviousSessions: list(r.PreviousSessions), LastExit: lastExit(r), Kept: v.Kept, LastError: v.LastError, Advice: []string{}, Drift: list(v.Drift), OtherClaudes: list(v.Strangers),
	}
	out.Adopted = r.Process != nil && r.Process.Adopted != nil
	if v.Status.SamePID {
		seconds := int64(v.Status.Uptime / time.Second)
		out.UptimeS = &seconds
	}
	out.Context, out.Cost = newContextJSON(v.Context, bands, now), newCostJSON(v.Cost)
	if v.Transcript != nil {
		out.Transcript = &transcriptJSON{Path: v.Transcript.Path, Bytes: v.Transcript.Size, Modified: v.Transcript.Modified.UTC()}
	}
	return out
}

// list is a list that is known to be empty, and so not null.
func list[T any](items []T) []T {
	if items == nil {
		return []T{}
	}
	return items
}

func lastExit(r agent.Record) *agent.Exit {
	if n := len(r.Exits); n > 0 {
		return &r.Exits[n-1]
	}
	return nil
}

type planJSON struct {
	Handle      agent.Handle    `json:"handle"`
	SessionID   agent.SessionID `json:"session_id"`
	Opened      string          `json:"opened"`
	Program     string          `json:"program"`
	Args        []string        `json:"args"`
	Cwd         string          `json:"cwd"`
	ConfigDir   string          `json:"config_dir"`
	TmuxSession string          `json:"tmux_session"`
	Restores    string          `json:"restores_transcript,omitempty"` // path of what would be put back
}
