package agent

import (
	"time"

	jsonv2 "github.com/go-json-experiment/json"
)

// Report is what a running claude says of itself through the hooks and the status line that
// it was started with: .nbs/status/<handle>.json. It may be lost without harm, and says
// nothing of any start but the one that it names. Times are UTC.
type Report struct {
	Invocation Invocation `json:"invocation"`
	SessionID  SessionID  `json:"session_id"` // the conversation that claude is in
	Activity   *Activity  `json:"activity,omitempty"`
	Failure    *Failure   `json:"failure,omitempty"`    // of the last turn; nil when it went well, or is not over
	Done       time.Time  `json:"done,omitzero"`        // when the last turn ended well; zero when it failed, or is not over
	Background int        `json:"background,omitempty"` // tasks, such as shells and subagents, that went on after the last turn
	End        *End       `json:"end,omitempty"`
	Gauge      *Gauge     `json:"gauge,omitempty"`
	Move       *Move      `json:"move,omitempty"` // the latest; nil: it is where it was started
}

// ParseReport reads a report's file.
func ParseReport(data []byte) (Report, error) {
	var report Report
	err := jsonv2.Unmarshal(data, &report, lenient)
	return report, err
}

// TurnEnd is when the last turn ended; zero where that is not known.
func (r *Report) TurnEnd() time.Time {
	if r.Failure != nil && r.Failure.At.After(r.Done) {
		return r.Failure.At
	}
	return r.Done
}

// PutBack sets times of the report that lie after now to the given time: the clock was put back
// since, and until it reached them again nothing newer would be believed.
func (r *Report) PutBack(now, at time.Time) {
	put := func(heard *time.Time) {
		if heard.After(now) {
			*heard = at
		}
	}
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
}

// Move records that claude went into another conversation by itself.
type Move struct {
	SessionID SessionID `json:"session_id"` // into which
	Reason    string    `json:"reason"`     // "clear", "branch", "resume"
	At        time.Time `json:"at"`
}

// Activity is what claude was doing when it last ran a hook.
type Activity struct {
	State  State     `json:"state"`
	Detail string    `json:"detail,omitempty"` // "permission prompt", "compacting"
	Hook   string    `json:"hook"`             // that reported it: "Stop"
	At     time.Time `json:"at"`
}

// FailureText is how many bytes are kept of the message that a person saw about a failed turn.
const FailureText = 400

// Failure is a turn that ended with an error of the API.
type Failure struct {
	Class string    `json:"class"`          // as Claude names it: "rate_limit", "authentication_failed"
	Text  string    `json:"text,omitempty"` // what the person saw, cut at [FailureText] bytes
	At    time.Time `json:"at"`
}

// End records that claude announced its exit. A claude that is killed announces nothing.
type End struct {
	Reason string    `json:"reason"` // as Claude names it: "prompt_input_exit", "other"
	At     time.Time `json:"at"`
}

// Gauge is what Claude passed to the status line: how full the conversation is, and what it cost.
type Gauge struct {
	Tokens      int       `json:"tokens"`          // in the window at the last reply
	Window      int       `json:"window"`          // size of the window, in tokens; 0: not said
	UsedPercent *int      `json:"used_percent"`    // of the window; nil: no reply yet
	CostUSD     float64   `json:"cost_usd"`        // of the conversation, as Claude counts it
	Model       Model     `json:"model,omitempty"` // that runs, by its full name
	At          time.Time `json:"at"`              // of the call that told it
	Since       time.Time `json:"since"`           // of the first call that told this level
}
