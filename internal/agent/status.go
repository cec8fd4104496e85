package agent

import "time"

// State is what an agent is doing.
type State string

// The states. In all states but Dead and Backoff, the agent has a live claude, or may have one.
const (
	Starting   State = "starting" // claude was started and is not ready yet
	Idle       State = "idle"
	TurnFailed State = "failed" // idle, and the last turn ended with an error of the API
	Busy       State = "busy"
	Waiting    State = "waiting"  // for a person: permission, question, trust, login
	Retrying   State = "retrying" // the API refused the request; claude will repeat it by itself
	Unknown    State = "unknown"  // a query failed, or the record belongs to another host
	Backoff    State = "backoff"  // Status.Cause says why it does not run; its launcher will start it again
	Dead       State = "dead"     // Status.Cause says why
)

// The sources of an agent's state. FromRegistry is Claude's own registry, with an entry of that very process.
const (
	FromRegistry = "registry"
	FromHooks    = "hooks"
	FromScreen   = "screen"
	FromProcess  = "process"
	FromRecord   = "record"
)

// Cause is why an agent does not run.
type Cause string

// The causes.
const (
	Exited       Cause = "exited"  // it left by itself with code 0
	Crashed      Cause = "crashed" // it left with another code, or because of a signal
	Stopped      Cause = "stopped" // we ended it
	LostReboot   Cause = "lost: reboot"
	LostTmux     Cause = "lost: tmux" // its tmux server is gone
	NeverStarted Cause = "never started"
	OutOfMemory  Cause = "killed: probably out of memory" // it was killed, and the kernel killed processes of its cgroup while it ran
)

var causes = []Cause{Exited, Crashed, Stopped, LostReboot, LostTmux, NeverStarted, OutOfMemory}

// StateWords returns the words for states in [Status.Words].
func StateWords() []string {
	words := []string{string(Starting), string(Idle), string(TurnFailed), string(Busy), string(Waiting), string(Retrying), string(Unknown), string(Backoff)}
	return append(words, Mapped(causes, func(cause Cause) string { return string(cause) })...)
}

// Status is the observed status of an agent, with the evidence.
type Status struct {
	State  State  `json:"state"`
	Cause  Cause  `json:"cause,omitempty"`  // of Dead and Backoff
	Detail string `json:"detail,omitempty"` // "signal: killed", "permission prompt"
	Source string `json:"source"`           // the source of the status: FromRegistry to FromRecord

	// Age is the time since the source said so: the state has lasted that long, or longer. Nil if the source does not
	// say when.
	Age   *time.Duration `json:"-"`
	Began time.Time      `json:"-"` // when the source said so; zero: it does not say when
	Retry *Retry         `json:"-"` // of Retrying

	// SamePID reports whether the recorded pid is that very process and alive.
	SamePID bool          `json:"same_process"`
	Uptime  time.Duration `json:"-"`
}

// Retry describes how often claude has repeated a request that the API refuses.
type Retry struct {
	Attempt int           // the next one, counted from 1
	Of      int           // number of attempts after which claude gives up
	In      time.Duration // until the attempt, from the time of the look
}

// Since sets the age from the time at which the source said so. It is never negative, even if the clock was set back.
func (s *Status) Since(at, now time.Time) {
	if at.IsZero() {
		return
	}
	age := max(0, now.Sub(at))
	s.Age, s.Began = &age, at
}

// Running reports whether a claude of the record exists.
func (s Status) Running() bool {
	return !s.Down() && (s.State != Unknown || s.SamePID)
}

// Down reports whether it is known that no claude of the record exists.
func (s Status) Down() bool { return s.State == Dead || s.State == Backoff }

// Words returns the status for programs: the state, or for Dead its cause, and the detail, or "".
func (s Status) Words() (state, cause string) {
	if s.State == Dead {
		return string(s.Cause), s.Detail
	}
	return string(s.State), s.Detail
}

// Word returns the status in one short phrase for people.
func (s Status) Word() string {
	switch {
	case s.State == Dead:
		return string(s.Cause)
	case (s.State == Idle || s.State == Waiting || s.State == TurnFailed || s.State == Backoff) && s.Detail != "":
		return string(s.State) + ": " + s.Detail
	default:
		return string(s.State)
	}
}
