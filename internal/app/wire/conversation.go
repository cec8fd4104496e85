package wire

import (
	"strings"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/chat/conversation"
	"nbs-worker/internal/store/conversations"
)

// Answer is the answer of a conversation to one text.
type Answer struct {
	Key               conversations.Key `json:"key"`
	Seq               int               `json:"seq"`
	Answer            *string           `json:"answer"`               // null: no answer
	FollowUps         []string          `json:"follow_ups,omitempty"` // what Claude said by itself after the answer, for example when a background task had ended
	Continuity        string            `json:"continuity,omitempty"` // "new", "resumed", or "reset" (after another conversation)
	SessionID         *agent.SessionID  `json:"session_id"`           // null until Claude has confirmed it
	PreviousSessionID *agent.SessionID  `json:"previous_session_id"`  // of a reset
	Reason            string            `json:"reason,omitempty"`     // of a reset, or why there is no answer
	Class             string            `json:"class,omitempty"`      // of a failure: "overloaded", "limit", "authentication", "blocked" (by a hook), "lost", "timed_out" ...
	Notice            string            `json:"notice,omitempty"`     // what else the user has to know
	Denials           []Denial          `json:"denials"`              // uses of tools that Claude was not permitted
	Warning           string            `json:"warning,omitempty"`    // of Claude about the folder
	Acted             []string          `json:"acted,omitempty"`      // the tools that ran in a turn without an answer
	Usage             *TokenUse         `json:"usage"`
	CostUSD           *float64          `json:"cost_usd"`
	DurationMS        int64             `json:"duration_ms"`
}

// Denial is a use of a tool that Claude was not permitted.
type Denial struct {
	Tool  string `json:"tool"`
	Input string `json:"input"` // what the tool was to act on, in short
}

// TokenUse is the number of tokens of a turn.
type TokenUse struct {
	Input         int `json:"input"`
	Output        int `json:"output"`
	CacheRead     int `json:"cache_read"`
	CacheCreation int `json:"cache_creation"`
}

// AnswerPart is a piece of an answer in progress.
type AnswerPart struct {
	Text string `json:"text"`
}

// NewAnswer converts the result of a turn.
func NewAnswer(key conversations.Key, r conversations.Result) Answer {
	out := Answer{
		Key: key, Seq: r.Seq, Continuity: r.Continuity, PreviousSessionID: knownID(r.PreviousSessionID), Reason: r.Reason, Class: r.Class,
		Notice: r.Notice, CostUSD: roundedCost(r.CostUSD), DurationMS: r.DurationMS, SessionID: knownID(r.SessionID),
		Denials: agent.Mapped(r.Denials, func(d conversations.Denial) Denial { return Denial(d) }), Warning: r.Warning,
	}
	if r.Class == "" {
		out.Answer, out.FollowUps = &r.Answer, r.FollowUps
		out.Usage = &TokenUse{Input: r.Usage.Input, Output: r.Usage.Output, CacheRead: r.Usage.CacheRead, CacheCreation: r.Usage.CacheCreation}
		return out
	}
	out.Reason, out.Acted = r.Error, r.Acted
	return out
}

func knownID(id agent.SessionID) *agent.SessionID {
	if id == "" {
		return nil
	}
	return &id
}

// Conversation is a keyed chat.
type Conversation struct {
	Key          conversations.Key `json:"key"`
	SessionID    *agent.SessionID  `json:"session_id"`       // null until Claude has confirmed it
	Unseen       bool              `json:"unseen,omitempty"` // the session was imported, and no transcript of it was seen
	Name         string            `json:"name,omitempty"`   // of the session
	Model        agent.Model       `json:"model,omitempty"`
	SystemPrompt string            `json:"system_prompt,omitempty"`
	Cwd          string            `json:"cwd"`
	ConfigDir    string            `json:"config_dir,omitempty"`
	Rights
	Before    *EarlierRights    `json:"earlier_permissions,omitempty"`
	Created   *time.Time        `json:"created"`
	Last      *time.Time        `json:"last"` // the last answer
	Answered  int               `json:"answered"`
	CostUSD   float64           `json:"cost_usd"`       // of all turns
	CostToday float64           `json:"cost_today_usd"` // of those that ended today, on this machine's clock
	Open      []OpenTurn        `json:"open"`
	Previous  []PreviousSession `json:"previous"`

	TurnTimeoutS int64  `json:"turn_timeout_s,omitempty"` // how long claude may be silent in a turn, if it was chosen; -1: without limit
	Told         []Told `json:"told,omitempty"`           // what its chat was sent since the last answer; Claude gets it with the next turn
}

// Rights say what Claude may do in a turn. Without them, the user's own settings say it.
type Rights struct {
	PermissionMode agent.PermissionMode `json:"permission_mode,omitempty"`
	AllowedTools   []string             `json:"allowed_tools,omitempty"`
}

// EarlierRights are what a conversation might do before it got its present rights.
type EarlierRights struct {
	Rights
	Until *time.Time `json:"until"`
}

// Words describes the rights for a person.
func (r Rights) Words() string {
	return conversations.Rights{PermissionMode: r.PermissionMode, AllowedTools: agent.ToolRules(strings.Join(r.AllowedTools, ","))}.String()
}

func newRights(r conversations.Rights) Rights {
	return Rights{PermissionMode: r.PermissionMode, AllowedTools: r.AllowedTools.List()}
}

// Told is a text that nbs-worker sent to a chat from outside of its conversation.
type Told struct {
	At   *time.Time `json:"at"`
	By   string     `json:"by"`
	Text string     `json:"text"`
}

// OpenTurn is a text that has no answer yet.
type OpenTurn struct {
	Key      conversations.Key `json:"key"`
	Seq      int               `json:"seq"`
	ID       string            `json:"id"`
	State    string            `json:"state"` // "queued", "running", "held", or "dead" (a person must retry or skip it)
	Attempts int               `json:"attempts"`
	Class    string            `json:"class,omitempty"`
	Reason   string            `json:"reason,omitempty"`
	Until    *time.Time        `json:"until"` // when it will be tried again
	Text     string            `json:"text"`
	At       *time.Time        `json:"at"`
	Rights                     // that were asked for with the text
	Command  bool              `json:"command,omitempty"` // the text is a command that Claude runs
}

// NewConversation converts a conversation with its open turns. today is when the day began.
func NewConversation(s *conversations.State, open []OpenTurn, today time.Time) Conversation {
	out := Conversation{
		Key: s.Meta.Key, Model: s.Meta.Model, SystemPrompt: s.Meta.SystemPrompt, Cwd: s.Meta.Cwd, ConfigDir: s.Meta.ConfigDir,
		Created: timeOf(s.Meta.Created), Last: timeOf(s.LastAt), Answered: s.Answered, Open: open, Previous: []PreviousSession{},
		Name: s.Names[s.Session.ID], CostUSD: rounded(s.TotalUSD), CostToday: rounded(s.SpentSince(today)),
	}
	out.Rights = newRights(s.Meta.Rights)
	if s.Before != nil {
		out.Before = &EarlierRights{newRights(s.Before.Rights), timeOf(s.Before.Until)}
	}
	if s.Session.Confirmed {
		out.SessionID, out.Unseen = knownID(s.Session.ID), s.IsUnseen()
	}
	switch silence := s.Meta.Silence; {
	case silence > 0:
		out.TurnTimeoutS = max(1, int64(silence/time.Second))
	case silence < 0:
		out.TurnTimeoutS = -1
	}
	for _, p := range s.Previous {
		out.Previous = append(out.Previous, PreviousSession{SessionID: p.ID, Until: timeOf(p.Until), Reason: p.Reason, Name: s.Names[p.ID]})
	}
	for _, t := range s.Told {
		out.Told = append(out.Told, Told{At: timeOf(t.At), By: t.By, Text: t.Text})
	}
	return out
}

// NewOpenTurn converts an open turn with its request.
func NewOpenTurn(key conversations.Key, w conversation.Waiting) OpenTurn {
	out := OpenTurn{Key: key, Seq: w.Seq, ID: w.ID, State: w.Word, Attempts: len(w.Starts), Text: w.Text, At: timeOf(w.At), Rights: newRights(w.Rights), Command: w.Command}
	out.Reason = w.Refusal
	if w.Stop != nil {
		out.Reason = w.Stop.Why
	}
	if w.Held != nil {
		out.Class, out.Reason, out.Until = w.Held.Class, w.Held.Reason, timeOf(w.Held.Until)
	}
	return out
}

func roundedCost(usd *float64) *float64 {
	if usd == nil {
		return nil
	}
	return new(rounded(*usd))
}
