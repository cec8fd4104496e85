package agent

import (
	"fmt"
	"strings"
	"time"

	"nbs-worker/internal/human"
)

// Record is everything that is known about an agent: .nbs/sessions/<handle>.json. Times are UTC with whole seconds.
type Record struct {
	Spec

	TmuxSession   string    `json:"tmux_session"`
	Started       time.Time `json:"started"`          // the latest start
	PID           int       `json:"pid"`              // of claude; 0 before the first start
	Created       time.Time `json:"created,omitzero"` // the first start
	ClaudeVersion string    `json:"claude_version,omitempty"`
	Desired       Desired   `json:"desired,omitempty"`
	Downed        bool      `json:"downed,omitzero"` // down stopped it, with its team: up starts it again

	Seal *Seal `json:"seal,omitempty"` // over the Spec; nil: the record is not allowed

	// EnvNames are the names of the caller's variables at the last start that decide which provider claude talks to.
	// Their values may be secrets, so they are not recorded.
	EnvNames []string `json:"env_names,omitempty"`

	// TranscriptSeen is when a transcript of this session id with a message in it was last seen on disk. It
	// distinguishes "never written" from "gone".
	TranscriptSeen time.Time `json:"transcript_seen,omitzero"`

	Process *Process `json:"process,omitempty"`
	Exits   []Exit   `json:"exits,omitempty"` // oldest first

	Restarts Restarts `json:"restarts,omitzero"`

	Rename *Rename   `json:"rename,omitempty"` // nil: it was never renamed
	Move   *HostMove `json:"move,omitempty"`   // nil: it was never moved to another machine

	SlurmJob string `json:"slurm_job,omitempty"` // the name of the job that export slurm has written for it; "": none

	source *file // from which it was read; nil: it was not read
}

// Desired is the state that the operator wants, apart from the observed one.
type Desired string

// The desired states.
const (
	DesiredRunning Desired = "running"
	DesiredStopped Desired = "stopped"
)

// Process identifies one start of an agent.
type Process struct {
	Invocation Invocation  `json:"invocation"`
	Identity               // claude; its PID is 0 before claude is started
	Wrapped    *Identified `json:"wrapped,omitempty"` // the claude that the identified process, a wrapper, has started; nil: that process is claude
	Launcher   Identified  `json:"launcher"`
	Version    string      `json:"launcher_version,omitempty"` // of the launcher's nbs-worker; "": an early one, which did not record it
	Tmux       *TmuxPlace  `json:"tmux,omitempty"`             // nil: not in tmux
	Adopted    *Adoption   `json:"adopted,omitempty"`          // nil: a launcher of ours started it
	Job        string      `json:"job,omitempty"`              // of a scheduler, in which it runs; "": in none

	// Ready is when claude was seen to be ready and logged in; zero: not seen.
	Ready time.Time `json:"ready,omitzero"`

	// OutOfWorktree is true if claude did not go back to the session's git worktree at this start.
	OutOfWorktree bool `json:"out_of_worktree,omitempty"`

	// Transcripts is the folder of Claude's transcripts at the start: device and inode.
	Transcripts string `json:"transcripts,omitempty"`
}

// Identity identifies a process among all machines and boots. A pid alone is reused; all fields together are not.
type Identity struct {
	Identified
	BootID string `json:"boot_id"`
	PIDNS  uint64 `json:"pid_ns"` // inode of the pid namespace
	Host   string `json:"host"`
}

// Identified identifies a process within a known boot, namespace and host.
type Identified struct {
	PID        int    `json:"pid"`
	StartTicks uint64 `json:"start_ticks"` // its birth, in the unit of its operating system; on Linux field 22 of /proc/<pid>/stat
}

func (id Identified) String() string {
	return fmt.Sprintf("pid %d, started at %d", id.PID, id.StartTicks)
}

// Claude returns the process that Claude's registry lists.
func (p *Process) Claude() Identified {
	if p.Wrapped != nil {
		return *p.Wrapped
	}
	return p.Identified
}

// OtherLauncher returns the version of the launcher that leads the process, if it is not ours: an upgrade leaves the
// launchers that run as they are. It returns "" if it is ours, or if no launcher leads the process.
func (p *Process) OtherLauncher(ours string) string {
	switch {
	case p == nil || p.Adopted != nil || p.Launcher.PID == 0 || p.Version == ours:
		return ""
	case p.Version == "":
		return "an earlier version"
	}
	return p.Version
}

// LauncherIdentity returns the launcher's identity, on the boot and host of the start.
func (p *Process) LauncherIdentity() Identity {
	return Identity{Identified: p.Launcher, BootID: p.BootID, PIDNS: p.PIDNS, Host: p.Host}
}

// TmuxPlace is the tmux server of a start.
type TmuxPlace struct {
	Socket           string `json:"socket"` // as chosen: a name, or a path
	Path             string `json:"path"`   // of the server's socket
	ServerPID        int    `json:"server_pid"`
	ServerStartTicks uint64 `json:"server_start_ticks"`
}

// ByPath reports whether the server was chosen by the path of its socket, not by a name.
func (p *TmuxPlace) ByPath() bool { return p != nil && strings.ContainsRune(p.Socket, '/') }

// ServerIdentity returns the server's identity, on the boot and host of the start.
func (p *Process) ServerIdentity() Identity {
	server := Identified{PID: p.Tmux.ServerPID, StartTicks: p.Tmux.ServerStartTicks}
	return Identity{Identified: server, BootID: p.BootID, PIDNS: p.PIDNS, Host: p.Host}
}

// Exit describes how one start ended.
type Exit struct {
	At         time.Time  `json:"at"`
	Invocation Invocation `json:"invocation"`
	Code       int        `json:"code"`                  // -1 if a signal ended it
	Signal     string     `json:"signal,omitempty"`      // as the kernel names it: "killed"
	HungUp     bool       `json:"hung_up,omitzero"`      // its terminal was hung up
	UptimeS    int64      `json:"uptime_s"`              // known if the end was seen
	Error      string     `json:"error,omitempty"`       // why claude was not started
	LastScreen string     `json:"last_screen,omitempty"` // at most 4 kB; of the latest exits

	// Cause was concluded from evidence that may change later, and Detail explains it; "" if the cause depends only on
	// the other fields.
	Cause  Cause  `json:"cause,omitempty"`
	Detail string `json:"detail,omitempty"`

	EndReason string `json:"end_reason,omitempty"` // Claude's word: "prompt_input_exit"; "": it gave no reason
	OOMKills  uint64 `json:"oom_kills,omitzero"`   // processes of its memory cgroup that the kernel killed for low memory while it ran
}

const (
	exitsKept   = 20
	screensKept = 5
)

// AddExit appends an exit. It keeps the latest twenty, but the screens only of the latest five: screens are most of a
// record, and a list reads a thousand records.
func (r *Record) AddExit(e Exit) {
	r.Exits = append(r.Exits, e)
	if n := len(r.Exits); n > exitsKept {
		r.Exits = r.Exits[n-exitsKept:]
	}
	for i := range len(r.Exits) - screensKept {
		r.Exits[i].LastScreen = ""
	}
}

// ExitOf returns the exit of the invocation; nil if no exit was recorded.
func (r *Record) ExitOf(id Invocation) *Exit {
	for i := len(r.Exits) - 1; i >= 0; i-- {
		if r.Exits[i].Invocation == id {
			return &r.Exits[i]
		}
	}
	return nil
}

// Replace moves the agent to another conversation and remembers the earlier one. If the new one was an earlier one,
// it is removed from those.
func (r *Record) Replace(id SessionID, at time.Time, reason string) {
	previous := make([]PreviousSession, 0, len(r.PreviousSessions)+1) // a new list: a copy of the record shares the old one
	for _, p := range r.PreviousSessions {
		if p.SessionID != id {
			previous = append(previous, p)
		}
	}
	previous = append(previous, PreviousSession{SessionID: r.SessionID, Until: at, Reason: reason})
	r.PreviousSessions, r.SessionID = previous, id
	r.TranscriptSeen, r.ForkOf = time.Time{}, ""
}

// LaunchDesired returns the desired state of an agent. The original tools did not record it, and kept records only of
// agents that should run.
func (r *Record) LaunchDesired() Desired {
	if r.Desired == "" && r.Handle != "" {
		return DesiredRunning
	}
	return r.Desired
}

// LastExit returns the latest exit; nil if no start has ended.
func (r *Record) LastExit() *Exit {
	if n := len(r.Exits); n > 0 {
		return &r.Exits[n-1]
	}
	return nil
}

// Seen reports whether a launcher saw the end. An end that was found later has only a cause.
func (e *Exit) Seen() bool { return e.Cause == "" || e.Code != -1 || e.Signal != "" }

// Summary describes in a few words how the start ended.
func (e *Exit) Summary() string {
	switch {
	case e.Error != "":
		return "not started: " + e.Error
	case !e.Seen():
		return strings.TrimSuffix(string(e.Cause)+", "+e.Detail, ", ")
	case e.HungUp:
		return fmt.Sprintf("its terminal was closed, code %d", e.Code)
	case e.Signal != "":
		return "signal: " + human.Word(e.Signal) + e.memory()
	case e.Terminated():
		return fmt.Sprintf("code %d, as after SIGTERM", e.Code)
	default:
		return fmt.Sprintf("code %d", e.Code)
	}
}

// Terminated reports whether claude left because of a SIGTERM: it catches the signal and exits with the code that a
// shell would report.
func (e *Exit) Terminated() bool {
	const codeOfTerm = 128 + 15
	return e.Signal == "" && e.Code == codeOfTerm
}

// OutOfMemory reports whether the kernel has probably killed claude because of low memory. The kernel may have killed
// another process of the cgroup, and a person or a program may have killed claude.
func (e *Exit) OutOfMemory() bool { return e.OOMKills > 0 && e.Signal == "killed" }

// memory describes what the kernel did in the agent's memory cgroup.
func (e *Exit) memory() string {
	if !e.OutOfMemory() {
		return ""
	}
	return fmt.Sprintf(", probably by the kernel: while it ran, memory ran out and the kernel killed %s in its cgroup", human.Count(int(e.OOMKills), "process")) //nolint:gosec // processes fit
}
