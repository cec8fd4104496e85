package turn

import (
	"cmp"
	"strings"
	"time"
	"unicode/utf8"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/claude/screen"
	"nbs-worker/internal/human"
)

// Class is why a turn was not answered.
type Class string

// The classes. After all but UnknownSession and SessionInUse the conversation is still there.
const (
	Answered       Class = ""
	UnknownSession Class = "unknown_session" // there is no such conversation, or nothing is left of it
	SessionInUse   Class = "session_in_use"  // the id of a new conversation is taken
	Overloaded     Class = "overloaded"      // the API has no capacity for now
	ServerError    Class = "server_error"    // the API, or the way to it, failed
	Limit          Class = "limit"           // requests are refused for now: RetryAt, when that is known
	Authentication Class = "authentication"  // a person is needed
	BadRequest     Class = "bad_request"     // the API does not take the request; neither will it next time
	UnknownCommand Class = "unknown_command" // claude has no such command, and was sent nothing
	BadModel       Class = "bad_model"       // there is no such model for this user
	TooLong        Class = "too_long"        // the conversation does not fit into the model's window
	Interrupted    Class = "interrupted"     // a person or program stopped the turn
	Blocked        Class = "blocked"         // a hook of the user's refused the text; Detail is its reason
	Killed         Class = "killed"          // claude was ended by a signal before it had answered
	Failed         Class = "failed"          // any other failure: Detail
)

// Usage is a number of tokens of each kind.
type Usage struct{ Input, Output, CacheRead, CacheCreation int }

// Outcome is the result of a turn.
type Outcome struct {
	SessionID agent.SessionID // of the conversation, as claude named it; "": it has named none
	Answer    string          // when Class is ""
	Class     Class
	Detail    string // what claude said of it, for people; at most 2,000 bytes
	Status    int    // of the API's answer, as of HTTP; 0: unknown
	Usage     Usage
	CostUSD   *float64 // of this turn; nil: unknown
	Duration  time.Duration
	RetryAt   time.Time // of Limit; zero: unknown
	Acted     []string  // the tools that ran, as far as the caller followed them: see [Activity]
	Exit      string    // how claude ended, as "exit status 1"; "": it has not
	Denials   []Denial  // in the order in which they were refused
	Warning   string    // of Claude about the folder, once for each process; "": none
}

// end collects how a turn ended.
type end struct {
	session      agent.SessionID
	takenUp      bool
	refusal      string // claude's words about a hook that refused the text
	reason       string // the hook's own; "": claude does not name it apart
	failure      string // class of the API error in claude's last words
	limitedUntil int64  // seconds since 1970
	unknown      string // the name of a command that claude does not have
	subtype      string
	result       *result // nil: there was none
	cost         *float64
	exit         string // "": claude is still there
	stderr       string
	now          time.Time
}

const detailKept = 2000 // bytes

func (e *end) outcome() Outcome {
	o := Outcome{SessionID: e.session, Exit: e.exit}
	if e.result == nil {
		o.Class, o.Detail = e.withoutResult(), human.Cut(cmp.Or(strings.TrimSpace(e.stderr), e.exit), detailKept, utf8.RuneLen)
		return o
	}
	if e.unknown != "" {
		o.Class, o.Detail, o.SessionID = UnknownCommand, "Claude has no command /"+e.unknown+" here", ""
		return o
	}
	r := e.result
	o.Usage, o.Status, o.Denials = Usage(r.Usage), r.Status, r.denials()
	if e.refusal != "" && r.NumTurns == 0 && r.Text == e.refusal {
		o.Class, o.Detail = Blocked, human.Cut(cmp.Or(e.reason, reasonIn(e.refusal)), detailKept, utf8.RuneLen)
		return o
	}
	if !r.IsError && !strings.HasPrefix(e.subtype, "error") {
		o.Answer = r.Text
		return o
	}
	text := cmp.Or(r.Text, strings.Join(r.Errors, "\n"), strings.TrimSpace(e.stderr))
	o.Class, o.Detail = e.classOf(text), human.Cut(text, detailKept, utf8.RuneLen)
	if o.Class == UnknownSession {
		o.SessionID = "" // it repeats what it was asked for
	}
	if o.Class == Limit {
		o.RetryAt = e.lifted(text)
	}
	return o
}

// lifted returns when a limit ends, or zero if claude does not say.
func (e *end) lifted(text string) time.Time {
	if e.limitedUntil > 0 {
		return time.Unix(e.limitedUntil, 0)
	}
	_, until := screen.UsageLimit(text, e.now)
	return until
}

// withoutResult returns the class of a turn for which claude gave no result.
func (e *end) withoutResult() Class {
	switch {
	case strings.Contains(e.stderr, unknownSession):
		return UnknownSession
	case strings.Contains(e.stderr, sessionInUse):
		return SessionInUse
	case strings.HasPrefix(e.exit, "signal: "), e.exit == "exit status 143", e.exit == "exit status 129":
		return Killed // claude exits with these codes after TERM and HUP
	case e.exit == "exit status 0":
		return Interrupted // by INT, after which 2.1.197 prints nothing
	}
	return Failed
}

// Claude's messages, word for word, on both versions.
const (
	unknownSession = "No conversation found with session ID"
	sessionInUse   = "is already in use"
	tooLong        = "prompt is too long"
	noCredit       = "credit balance is too low" // the API's own words, with which it calls the request a bad one
)

// classOf returns the class of a result that reports an error. The status is missing if claude gave up before the API
// had answered. In some cases on older versions the failure is missing too.
func (e *end) classOf(text string) Class {
	lower := strings.ToLower(text)
	limited, _ := screen.UsageLimit(text, e.now)
	switch {
	case strings.Contains(text, unknownSession):
		return UnknownSession
	case e.subtype == "error_during_execution":
		return Interrupted
	case strings.HasPrefix(lower, tooLong):
		return TooLong
	}
	switch status := e.result.Status; {
	case status == 401, status == 403, e.failure == "authentication_failed", e.failure == "billing_error", strings.Contains(lower, noCredit):
		return Authentication
	case status == 404, e.failure == "model_not_found":
		return BadModel
	case status == 429, e.failure == "rate_limit", limited:
		return Limit
	case status == 529, e.failure == "overloaded", strings.Contains(lower, "overloaded"):
		return Overloaded
	case status >= 500, e.failure == "server_error":
		return ServerError
	case status >= 400, e.failure == "invalid_request":
		return BadRequest
	}
	return Failed
}

// reasonIn returns a hook's reason from claude's words about its refusal. These are, for example:
//
//	UserPromptSubmit operation blocked by hook:
//	[COMMAND]: REASON
//
//	Original prompt: TEXT
func reasonIn(refusal string) string {
	reason, _, _ := strings.Cut(refusal, "\n\nOriginal prompt: ")
	if _, after, found := strings.Cut(reason, "by hook:"); found {
		reason = strings.TrimSpace(after)
	}
	if _, after, found := strings.Cut(reason, "]: "); found && strings.HasPrefix(reason, "[") {
		reason = after
	}
	return strings.TrimSpace(reason)
}
