package agent

import (
	"strings"
	"time"
	"unicode/utf8"

	jsonv2 "github.com/go-json-experiment/json"

	"nbs-worker/internal/human"
)

// Report is what a running claude reports about itself through the hooks and the status line of its start:
// .nbs/status/<handle>.json. Losing it does no harm. It concerns only the start that it names. Times are UTC.
type Report struct {
	Invocation Invocation `json:"invocation"`
	SessionID  SessionID  `json:"session_id"` // claude's present conversation
	Activity   *Activity  `json:"activity,omitempty"`
	Began      time.Time  `json:"began,omitzero"`       // when the last turn began; after an Escape, the turn before it
	Failure    *Failure   `json:"failure,omitempty"`    // of the last turn; nil if it ended well, or is not over
	Done       time.Time  `json:"done,omitzero"`        // when the last turn ended well; zero if it failed, or is not over
	Background int        `json:"background,omitempty"` // tasks, such as shells and subagents, that went on after the last turn
	End        *End       `json:"end,omitempty"`
	Gauge      *Gauge     `json:"gauge,omitempty"`
	Move       *Move      `json:"move,omitempty"` // the latest one; nil: claude is in the conversation of its start
	Words      *Words     `json:"words,omitempty"`

	// From the latest call of the status line; nil: Claude reported none.
	Limits   *Limits      `json:"limits,omitempty"`
	Pull     *PullRequest `json:"pull_request,omitempty"`
	Worktree *Worktree    `json:"worktree,omitempty"`
}

// ParseReport reads a report's file.
func ParseReport(data []byte) (Report, error) {
	var report Report
	err := jsonv2.Unmarshal(data, &report, lenient)
	return report, err
}

// TurnEnd returns when the last turn ended; zero if that is unknown.
func (r *Report) TurnEnd() time.Time {
	if r.Failure != nil && r.Failure.At.After(r.Done) {
		return r.Failure.At
	}
	return r.Done
}

// IsInTurn reports whether claude was in a turn when it last ran a hook.
func (r *Report) IsInTurn() bool {
	return r.Activity != nil && (r.Activity.State == Busy || r.Activity.State == Waiting)
}

// PutBack sets times of the report that lie after now to at. The clock was set back, and without this no newer time
// would be accepted until the clock has passed them.
func (r *Report) PutBack(now, at time.Time) {
	put := func(heard *time.Time) {
		if heard.After(now) {
			*heard = at
		}
	}
	put(&r.Began)
	put(&r.Done)
	if r.Activity != nil {
		put(&r.Activity.At)
	}
	if r.Failure != nil {
		put(&r.Failure.At)
	}
	if r.Gauge != nil {
		put(&r.Gauge.At)
	}
	if r.Limits != nil {
		put(&r.Limits.Since)
	}
}

// Move records that claude has changed to another conversation by itself.
type Move struct {
	SessionID SessionID `json:"session_id"` // the new conversation
	Reason    string    `json:"reason"`     // "clear", "branch", "resume"
	At        time.Time `json:"at"`
}

// Words are what was said last in a conversation: each in one line, cut at [WordsLimit] bytes.
type Words struct {
	SessionID SessionID `json:"session_id"`
	Prompt    string    `json:"prompt,omitempty"` // the last prompt of a person or of a command
	Said      string    `json:"said,omitempty"`   // the end of the last turn, in the agent's words
}

// WordsLimit is the kept length, in bytes, of what was said last.
const WordsLimit = 200

// ShortWords returns a text in one line, cut at [WordsLimit] bytes.
func ShortWords(text string) string {
	const enough = 8 * WordsLimit // bytes of it that are looked at, blanks included
	text = strings.TrimSpace(text)
	return human.Cut(human.OneLine(text[:human.Prefix(text, enough, utf8.RuneLen)]), WordsLimit, utf8.RuneLen)
}

// Activity is what claude was doing when it last ran a hook.
type Activity struct {
	State  State     `json:"state"`
	Detail string    `json:"detail,omitempty"` // "permission prompt", "compacting"
	Hook   string    `json:"hook"`             // the hook that reported it: "Stop"
	At     time.Time `json:"at"`
}

// FailureText is the kept length, in bytes, of the message that a person saw about a failed turn.
const FailureText = 400

// Failure is a turn that ended with an error of the API.
type Failure struct {
	Class string    `json:"class"`          // Claude's word: "rate_limit", "authentication_failed"
	Text  string    `json:"text,omitempty"` // what the person saw, cut at [FailureText] bytes
	At    time.Time `json:"at"`
}

// End records that claude announced its exit. A killed claude announces nothing.
type End struct {
	Reason string    `json:"reason"` // Claude's word: "prompt_input_exit", "other"
	At     time.Time `json:"at"`
}

// Gauge is what Claude passed to the status line: how full the conversation is, and its cost.
type Gauge struct {
	Tokens      int       `json:"tokens"`          // in the window at the last reply
	Window      int       `json:"window"`          // size of the window in tokens; 0: unknown
	UsedPercent *int      `json:"used_percent"`    // of the window; nil: no reply yet
	CostUSD     float64   `json:"cost_usd"`        // of the conversation, as Claude counts it
	Model       Model     `json:"model,omitempty"` // the running model, by its full name
	At          time.Time `json:"at"`              // of the call that reported it
	Since       time.Time `json:"since"`           // of the first call that reported this level
}
