package conversations

import (
	"encoding/json"
	"slices"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/store/private"
)

// Meta is what all turns of a conversation share.
type Meta struct {
	Key          Key         `json:"key"`
	Created      time.Time   `json:"created"`
	SystemPrompt string      `json:"system_prompt,omitempty"`
	Model        agent.Model `json:"model,omitempty"`
	Cwd          string      `json:"cwd"`
	ConfigDir    string      `json:"config_dir,omitempty"`

	Silence time.Duration `json:"silence,omitempty"` // of the turns that do not say: see [Request]
	Rights                // of the turns that ask for no other
	Memory  bool          `json:"memory,omitempty"` // its turns are observed
}

// Unlimited is a [Request.Silence] without an end.
const Unlimited time.Duration = -1

// Powers are what the agent that asks for a turn has itself: claude gets that, and no more. They are sealed with the
// request.
type Powers struct {
	Agent          string               `json:"agent"`            // who asks, in words
	Handle         agent.Handle         `json:"handle,omitempty"` // "": a claude without a record
	Depth          int                  `json:"depth,omitempty"`  // agents between it and a person
	PermissionMode agent.PermissionMode `json:"permission_mode"`
	ClaudeArgs     []string             `json:"claude_args,omitempty"`
	Env            map[string]string    `json:"env,omitempty"`
	Settings       string               `json:"settings,omitempty"`
	Cwd            string               `json:"cwd"` // of the conversation, which may be an earlier agent's of that name
	ConfigDir      string               `json:"config_dir,omitempty"`
}

// Request is all that the runner of a turn needs. The runner may be another process than the one that asked.
type Request struct {
	ID           string          `json:"id"` // the same id is the same turn; "": one is minted
	Text         string          `json:"text"`
	Model        agent.Model     `json:"model,omitempty"`
	ClaudeArgs   []string        `json:"claude_args,omitempty"`
	ContextCmd   string          `json:"context_cmd,omitempty"`
	Context      string          `json:"context,omitempty"` // what Claude is told beside the text
	Files        []File          `json:"files,omitempty"`
	Enrich       bool            `json:"enrich,omitempty"`        // Claude gets the time, the project and what is remembered too
	MemoryOf     Key             `json:"memory_of,omitempty"`     // the conversation whose memory that is; "": its own
	Isolated     bool            `json:"isolated,omitempty"`      // it does not touch the conversation's session
	SystemPrompt string          `json:"system_prompt,omitempty"` // of an isolated turn
	Fork         agent.SessionID `json:"fork,omitempty"`
	OnLost       string          `json:"on_lost,omitempty"`
	OnUnknown    string          `json:"on_unknown,omitempty"`
	Timeout      time.Duration   `json:"timeout,omitempty"`     // of the whole turn, in nanoseconds; 0: no limit
	Powers       *Powers         `json:"powers,omitempty"`      // of the agent that asks; nil: a person does
	Typed        bool            `json:"typed,omitempty"`       // a person typed the text: Claude puts the files that it names with @ into the prompt
	Nested       bool            `json:"nested,omitempty"`      // another turn, which has a place among those that run, waits for it
	DailyLimit   float64         `json:"daily_limit,omitempty"` // US dollars; 0: no limit
	At           time.Time       `json:"at"`

	Silence    time.Duration `json:"silence,omitempty"` // after which the turn is ended, in nanoseconds; 0: the conversation's
	Rights                   // of this turn
	Command    bool          `json:"command,omitempty"`     // the text is a command that claude runs
	FailDenied bool          `json:"fail_denied,omitempty"` // a turn in which a tool was refused counts as failed
}

// sum covers what is asked, but not the times and limits: a repeated request may wait longer.
func (r *Request) sum() string {
	asked := *r
	asked.ID, asked.OnLost, asked.OnUnknown, asked.Timeout, asked.Nested, asked.Typed, asked.DailyLimit, asked.At = "", "", "", 0, false, false, 0, time.Time{}
	asked.Silence, asked.Enrich, asked.MemoryOf = 0, false, ""
	if asked.Powers != nil {
		powers := *asked.Powers
		powers.Agent, asked.Powers = "", &powers // it names a process
	}
	content, _ := json.Marshal(asked) // it has only words and a time
	return string(private.SumOf(content))
}

// Session is the Claude Code session of the next turn.
type Session struct {
	ID        agent.SessionID `json:"id,omitempty"`        // "": none yet
	Confirmed bool            `json:"confirmed,omitempty"` // Claude has said it; an id that was only minted may have no transcript
}

// Previous is an earlier session of the conversation.
type Previous struct {
	ID     agent.SessionID `json:"id"`
	Until  time.Time       `json:"until"`
	Reason string          `json:"reason,omitempty"`
	Cut    bool            `json:"cut,omitempty"` // see [State]; when the conversation left the session
}

// Start is one attempt at a turn.
type Start struct {
	Seq        int              `json:"-"`
	SHA        string           `json:"-"` // of the request that was read; "": not checked
	Attempt    int              `json:"attempt"`
	Invocation agent.Invocation `json:"invocation"`
	Runner     agent.Identity   `json:"runner"`
	Session    agent.SessionID  `json:"session"`
	Mode       string           `json:"mode"`
	At         time.Time        `json:"at"`
	Said       agent.SessionID  `json:"said,omitempty"` // the id that Claude said
	Era        int              `json:"era,omitempty"`  // [State.Era] when it began
	Told       int              `json:"told,omitempty"` // number of the last [Told] that Claude got with it
}

// Held is why a turn, and all turns behind it, wait.
type Held struct {
	Class  string    `json:"class"`
	Reason string    `json:"reason"`
	Until  time.Time `json:"until,omitzero"` // zero: until a retry or a skip
	At     time.Time `json:"at"`

	Uncounted bool `json:"uncounted,omitempty"` // the attempt does not count as one of the turn's: it could not have done better
	Mends     bool `json:"mends,omitempty"`     // its cause may end without a word to us, so Until is only the next of many tries
}

// NeedsPerson reports whether a turn that is held like this probably goes on only after a person has done something.
func (h *Held) NeedsPerson() bool { return h.Until.IsZero() || h.Mends }

// Turn is an accepted turn.
type Turn struct {
	Seq      int       `json:"seq"` // from 1, in the order in which they are run
	ID       string    `json:"id"`
	SHA      string    `json:"sha"` // of what is asked
	At       time.Time `json:"at"`
	Isolated bool      `json:"isolated,omitempty"`
	Edits    int       `json:"edits,omitempty"` // of its text, before the first attempt
	Starts   []Start   `json:"starts,omitempty"`
	Tries    int       `json:"tries,omitempty"` // starts that count since it was accepted or retried
	Held     *Held     `json:"held,omitempty"`
	Stop     *Stop     `json:"stop,omitempty"` // the turn is to end
}

// Usage is the number of tokens that a turn used.
type Usage struct {
	Input         int `json:"input_tokens"`
	Output        int `json:"output_tokens"`
	CacheRead     int `json:"cache_read_tokens"`
	CacheCreation int `json:"cache_creation_tokens"`
}

// The effects of a turn on the session.
const (
	New     = "new"
	Resumed = "resumed"
	Reset   = "reset"
)

// Skipped is the class of a turn that was skipped.
const Skipped = "skipped"

// Denial is a use of a tool that Claude was not permitted.
type Denial struct {
	Tool  string `json:"tool"`
	Input string `json:"input,omitempty"` // what the tool was to act on, in short
}

// Result is the result of a turn.
type Result struct {
	Seq               int             `json:"seq"`
	ID                string          `json:"id"`
	SHA               string          `json:"sha"`
	Answer            string          `json:"answer"`
	Class             string          `json:"class,omitempty"` // of the failure; "": it was answered
	Error             string          `json:"error,omitempty"`
	Continuity        string          `json:"continuity,omitempty"` // New, Resumed or Reset
	SessionID         agent.SessionID `json:"session_id,omitempty"` // in which the next turn is; "": as it was
	PreviousSessionID agent.SessionID `json:"previous_session_id,omitempty"`
	Reason            string          `json:"reason,omitempty"` // of a reset
	Notice            string          `json:"notice,omitempty"`
	Denials           []Denial        `json:"denials,omitempty"`
	Warning           string          `json:"warning,omitempty"` // of Claude about the folder, for who runs it
	Usage             Usage           `json:"usage,omitzero"`
	CostUSD           *float64        `json:"cost_usd,omitempty"`
	DurationMS        int64           `json:"duration_ms,omitempty"`
	Attempts          int             `json:"attempts,omitempty"`
	FollowUps         []string        `json:"follow_ups,omitempty"` // what Claude said by itself after the answer
	At                time.Time       `json:"at"`
	Lingers           bool            `json:"-"` // its claude has background tasks, or may say something by itself

	Acted []string `json:"acted,omitempty"` // the tools that ran in a turn without an answer
}

// EarlierRights are what a conversation might do until it got its present rights.
type EarlierRights struct {
	Rights
	Until time.Time `json:"until"`
}

// State is the folded journal of a conversation.
type State struct {
	Meta      Meta           `json:"meta"`
	Session   Session        `json:"session"`
	Previous  []Previous     `json:"previous,omitempty"` // oldest first
	Era       int            `json:"era,omitempty"`      // how often another session was made the conversation's
	Open      []Turn         `json:"open,omitempty"`     // in their order
	Next      int            `json:"next"`               // number of the next turn
	Answered  int            `json:"answered"`
	LastAt    time.Time      `json:"last_at"`                  // of a turn that was accepted or finished
	Before    *EarlierRights `json:"earlier_rights,omitempty"` // nil: the rights are those of the beginning
	TellReset *Previous      `json:"tell_reset,omitempty"`     // a reset that the next answer has to report
	Last      string         `json:"last,omitempty"`           // the id of the last turn that was answered in the session
	Heard     int            `json:"heard,omitempty"`          // how often Claude has said something by itself since then
	Cut       bool           `json:"cut,omitempty"`            // a notice since then says what was ended
	Untold    []Unasked      `json:"untold,omitempty"`         // what a chat has to be told of, oldest first
	Stopped   *Turn          `json:"stopped,omitempty"`        // the last turn of the session, if it was stopped and had begun
	Lingering []Turn         `json:"lingering,omitempty"`      // turns that ended while their claude went on: see [State.Left]

	Names    map[agent.SessionID]string `json:"names,omitempty"`    // that a person gave to sessions
	Model    agent.Model                `json:"model,omitempty"`    // that a person chose for the next turns; "": that of Meta
	LastUSD  float64                    `json:"last_usd,omitempty"` // of the last turn whose cost is known
	Spent    []Spent                    `json:"spent,omitempty"`    // in the last two days
	TotalUSD float64                    `json:"total_usd,omitempty"`

	Told        []Told `json:"told,omitempty"`         // that Claude does not know yet, oldest first
	ToldTo      int    `json:"told_to,omitempty"`      // number of the last one
	ToldDropped int    `json:"told_dropped,omitempty"` // how many were dropped, because there were too many

	Unseen agent.SessionID `json:"unseen,omitempty"` // adopted without a transcript, until one is seen
}

// Held returns why the first open turn waits, and all turns behind it; nil if it does not.
func (s *State) Held() *Held {
	if len(s.Open) == 0 {
		return nil
	}
	return s.Open[0].Held
}

// IsUnseen reports whether no transcript of the session was ever seen: only another record had its id.
func (s *State) IsUnseen() bool { return s.Unseen != "" && s.Unseen == s.Session.ID }

// turn returns the open turn with this number, or nil.
func (s *State) turn(seq int) *Turn {
	for i := range s.Open {
		if s.Open[i].Seq == seq {
			return &s.Open[i]
		}
	}
	return nil
}

// isBegun reports whether the conversation has or will have any text. Isolated turns do not count.
func (s *State) isBegun() bool {
	return s.Session.ID != "" || s.Era > 0 || slices.ContainsFunc(s.Open, func(t Turn) bool { return !t.Isolated })
}

// withID returns the open turn with an id, or nil.
func (s *State) withID(id string) *Turn {
	for i := range s.Open {
		if s.Open[i].ID == id {
			return &s.Open[i]
		}
	}
	return nil
}
