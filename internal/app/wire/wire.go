// Package wire defines the output of --json: an interface with explicit fields, independent of the records.
//
// It has one vocabulary. "state" is the word in the table, for running and ended agents, and "cause" is the reason for
// it. An unknown pid is null, never 0. Times are RFC 3339 in UTC. An absent or null field is unknown. A verb that takes
// several handles prints an array, even for one. In it, a failed agent has an "error" instead.
//
// schema.json is generated from these types; `nbs-worker schema` prints it.
package wire

import (
	"math"
	"strings"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/platform/slurm"
	"nbs-worker/internal/team/attention"
	"nbs-worker/internal/team/inspect"
	"nbs-worker/internal/team/observe"
)

// Agent is one agent in a list.
type Agent struct {
	Project        string               `json:"project,omitempty"` // its root, if agents of several projects are listed
	Handle         agent.Handle         `json:"handle"`
	State          string               `json:"state"`
	Cause          string               `json:"cause,omitempty"`
	Question       *Question            `json:"question,omitempty"` // of a waiting agent, as its screen shows it
	StateSource    string               `json:"state_source"`       // registry, hooks, screen, process or record
	StateAgeMS     *int64               `json:"state_age_ms"`       // the age of what the source says
	Needs          *Need                `json:"needs"`              // why it needs a person; null: it does not
	What           *What                `json:"what"`               // what it asks, does, or has said last; null: unknown
	Background     int                  `json:"background_tasks"`   // shells and subagents that its last turn has left running
	Running        bool                 `json:"running"`
	Desired        agent.Desired        `json:"desired"`
	Model          agent.Model          `json:"model"`         // the recorded one, for the next start
	RunningModel   *agent.Model         `json:"running_model"` // in Claude's words; null: it does not run, or the model is unknown
	PermissionMode agent.PermissionMode `json:"permission_mode,omitempty"`
	Restart        Restart              `json:"restart"`
	PID            *int                 `json:"pid"` // of the agent's own running process
	SessionID      agent.SessionID      `json:"session_id"`
	TmuxSession    string               `json:"tmux_session"`
	Cwd            string               `json:"cwd"`
	WorksIn        string               `json:"works_in,omitempty"` // the folder of its session, if not cwd: it has entered a worktree, or a person has used /cd
	Started        *time.Time           `json:"started"`
	Context        *Context             `json:"context"`
	Cost           *Cost                `json:"cost"`
	Budget         *AgentBudget         `json:"budget,omitempty"`       // what it may spend
	Limits         *Limits              `json:"limits,omitempty"`       // of its account's plan, as it was told at its last reply
	PullRequest    *PullRequest         `json:"pull_request,omitempty"` // of its branch, as Claude found it
	Worktree       *Worktree            `json:"worktree,omitempty"`     // that Claude has made for its session
	OwnWorktree    *OwnWorktree         `json:"own_worktree,omitempty"` // that spawn --worktree has made for it, in a list
	Allowed        *bool                `json:"allowed"`                // the record has the user's seal; null: unknown
	Job            *Job                 `json:"job,omitempty"`          // of Slurm, in which it runs or waits, as seen from outside of it
	SharedWith     []agent.Handle       `json:"shared_with,omitempty"`  // other agents with the same conversation
	Usage          *Usage               `json:"usage,omitempty"`        // of a running agent, if asked for
}

// Dismissed is an agent that list --watch has shown, and that is no more.
type Dismissed struct {
	Project   string       `json:"project,omitempty"`
	Handle    agent.Handle `json:"handle"`
	Dismissed bool         `json:"dismissed"`
}

// Question is the question of a claude dialog.
type Question struct {
	Dialog  string   `json:"dialog"`         // permission, question, trust ...
	Text    string   `json:"text,omitempty"` // tool, command or path, and the question, each on a line
	Choices []string `json:"choices"`
}

func newQuestion(dialog string, asked *agent.Asked) *Question {
	if dialog == "" {
		return nil
	}
	out := &Question{Dialog: dialog, Choices: []string{}}
	if asked != nil {
		out.Text, out.Choices = asked.Text, asked.Choices
	}
	return out
}

// Restart says when an agent is started again automatically, and what its restart policy remembers.
type Restart struct {
	Policy   agent.RestartWord `json:"policy"`          // no, on-failure, on-abnormal or always
	Failures int               `json:"failures"`        // in the ten minutes before the latest end
	Next     *time.Time        `json:"next"`            // when its launcher will start it again; null: it does not wait for a start
	After    agent.EndClass    `json:"after,omitempty"` // why its launcher waits: crash, quota or clean
	Held     *Hold             `json:"held"`            // null: its restarts are not held
}

// Hold is the reason why an agent is not started again until a person has looked.
type Hold struct {
	Class  agent.EndClass `json:"class"` // crash, auth, config or conflict
	Reason string         `json:"reason"`
	Since  *time.Time     `json:"since"`
}

// Context says how full a conversation is.
type Context struct {
	UsedPercent int        `json:"used_percent"`
	LeftPercent int        `json:"left_percent"`
	Tokens      int        `json:"tokens"`
	Window      int        `json:"window"`
	Band        agent.Band `json:"band"`
	Source      string     `json:"source"` // "status line": exact; "transcript": approximate
	AgeS        *int64     `json:"age_s"`
}

// Cost is what a conversation cost.
type Cost struct {
	USD    float64 `json:"usd"`
	Source string  `json:"source"`
}

func newCost(cost *agent.Cost) *Cost {
	if cost == nil {
		return nil
	}
	return &Cost{USD: rounded(cost.USD), Source: cost.Source}
}

// rounded rounds a sum of money to drop the rounding errors of its addition.
func rounded(usd float64) float64 {
	const digits = 1e6
	return math.Round(usd*digits) / digits
}

// Retry is the progress of claude's attempts at a request that the API refuses.
type Retry struct {
	Attempt int `json:"attempt"`
	Of      int `json:"of"`
	InS     int `json:"in_s"`
}

// Need is why an agent needs a person.
type Need struct {
	Reason attention.Reason `json:"reason"` // waits, down, short or done
	Since  *time.Time       `json:"since"`
	Seen   bool             `json:"seen"`              // a person has looked at the agent since
	SeenAt *time.Time       `json:"seen_at,omitempty"` // when a person last looked at it
}

// NewNeed converts a need; nil stays nil.
func NewNeed(need *attention.Need) *Need {
	if need == nil {
		return nil
	}
	return &Need{Reason: need.Reason, Since: timeOf(need.Since), Seen: need.Seen, SeenAt: timeOf(need.SeenAt)}
}

// What says in one line what an agent does, or did last.
type What struct {
	Kind observe.Kind `json:"kind"` // question, failure, task, or said: its own last words
	Text string       `json:"text"`
}

// NewAgent converts the observed state of an agent, and judges what it needs.
func NewAgent(row *inspect.Row, judge *attention.Judge) Agent {
	r, sight, now := &row.Record, &row.Sight, judge.Now
	out := Agent{
		Handle: row.Handle, Needs: NewNeed(judge.Row(row)), What: (*What)(row.What()), StateSource: sight.Status.Source, Background: sight.Background(), Running: sight.Status.Running(), Desired: r.LaunchDesired(),
		Model: r.Model, SessionID: r.SessionID, TmuxSession: sight.TmuxSession(), Cwd: r.LaunchCwd(), WorksIn: sight.WorksIn, Started: timeOf(r.Started),
		Restart: newRestart(r, sight.Status), Context: newContext(row.Context, judge.Bands, now), Cost: newCost(row.Cost), Allowed: allowed(sight),
	}
	out.State, out.Cause = sight.Status.Words()
	out.Budget = newBudget(sight.Spending)
	out.Limits, out.PullRequest, out.Worktree = newLimits(sight.Report.Limits, now), (*PullRequest)(sight.Report.Pull), (*Worktree)(sight.Report.Worktree)
	out.Job = NewJob(sight.Job)
	out.Question = newQuestion(string(sight.Dialog), sight.Asked)
	if row.Tree != nil {
		out.OwnWorktree = &OwnWorktree{row.Tree.Path, row.Tree.Branch, row.Tree.Gone, row.Tree.Changed}
	}
	if age := sight.Status.Age; age != nil {
		out.StateAgeMS = new(age.Milliseconds())
	}
	if sight.Status.SamePID {
		out.PID = pid(r.PID)
	}
	if model := sight.Model; model != "" {
		out.RunningModel = &model
	}
	if r.Handle != "" { // otherwise the record could not be read
		out.PermissionMode = r.LaunchPermissionMode()
	}
	return out
}

// Job is what Slurm says of the job of an agent.
type Job struct {
	ID     string `json:"id,omitempty"`
	State  string `json:"state"`            // in Slurm's words, such as RUNNING or PENDING; unreachable: Slurm did not answer
	Node   string `json:"node,omitempty"`   // where it runs
	Reason string `json:"reason,omitempty"` // why it waits, in Slurm's words
}

// Words says it in a few words: "12 RUNNING on n1"; "" for an agent that is in no job.
func (j *Job) Words() string {
	switch {
	case j == nil:
		return ""
	case j.ID == "":
		return j.State
	}
	return strings.TrimPrefix(slurm.Job{ID: j.ID, State: j.State, Node: j.Node, Reason: j.Reason}.String(), "job ")
}

// NewJob converts what Slurm says; nil stays nil.
func NewJob(j *observe.Job) *Job {
	switch {
	case j == nil:
		return nil
	case j.Err != nil:
		return &Job{State: j.Word()}
	}
	return &Job{j.ID, j.State, j.Node, j.Reason}
}

func newRestart(r *agent.Record, status agent.Status) Restart {
	out := Restart{Policy: r.LaunchRestart(), Failures: len(r.Restarts.Counted)}
	if status.State == agent.Backoff {
		out.Next, out.After = timeOf(r.Restarts.Next), r.Restarts.After
	}
	out.Held = newHold(r.Restarts.Hold)
	return out
}

func newHold(hold *agent.Hold) *Hold {
	if hold == nil {
		return nil
	}
	return &Hold{Class: hold.Class, Reason: hold.Reason, Since: timeOf(hold.Since)}
}

// newContext converts a context's use; nil if it is unknown.
func newContext(use *agent.ContextUse, bands agent.Bands, now time.Time) *Context {
	if use == nil {
		return nil
	}
	left := use.LeftPercent()
	out := &Context{UsedPercent: use.UsedPercent, LeftPercent: left, Tokens: use.Tokens, Window: use.Window, Band: bands.Of(left), Source: use.Source}
	if !use.At.IsZero() {
		out.AgeS = new(max(0, int64(now.Sub(use.At)/time.Second)))
	}
	return out
}

func newRetry(retry *agent.Retry) *Retry {
	if retry == nil {
		return nil
	}
	return &Retry{Attempt: retry.Attempt, Of: retry.Of, InS: int(retry.In / time.Second)}
}

func allowed(sight *observe.Sight) *bool {
	yes := sight.NotAllowed == nil
	if sight.Record.Handle == "" || !yes && !sight.IsNotAllowed() {
		return nil
	}
	return &yes
}

func pid(n int) *int {
	if n <= 0 {
		return nil
	}
	return &n
}

// timeOf returns a recorded time in UTC; nil for the zero time, and for one that RFC 3339 cannot express.
func timeOf(at time.Time) *time.Time {
	const lastYear = 9999
	if at = at.UTC(); at.IsZero() || at.Year() < 0 || at.Year() > lastYear {
		return nil
	}
	return &at
}

// list returns an empty list for nil, so that JSON has [] and not null.
func list[T any](items []T) []T {
	if items == nil {
		return []T{}
	}
	return items
}

// dictionary returns an empty map for nil, so that JSON has {} and not null.
func dictionary(entries map[string]string) map[string]string {
	if entries == nil {
		return map[string]string{}
	}
	return entries
}

// Error says why something failed.
type Error struct {
	Kind     string   `json:"kind"`
	Message  string   `json:"message"`
	Hints    []string `json:"hints"`
	ExitCode int      `json:"exit_code"`
}

// Note is a line on stderr that does not report a failure.
type Note struct {
	Note string `json:"note"`
}

// Failure is the output on stderr for a failed command. In an array it is the element of a failed agent or
// project.
type Failure struct {
	Project string       `json:"project,omitempty"` // its root, if agents of several projects are listed
	Handle  agent.Handle `json:"handle,omitempty"`
	Error   Error        `json:"error"`
}

// kinds names the kinds of errors.
var kinds = map[fail.Kind]string{
	fail.Failed: "failed", fail.NotFound: "not found", fail.TimedOut: "timed out", fail.BadInput: "bad input", fail.Conflict: "conflict",
	fail.Unfit: "unfit", fail.Partial: "partial", fail.Held: "held", fail.Interrupted: "interrupted",
}

// NewFailure converts an error of a kind, with its message and remedies as printed.
func NewFailure(handle agent.Handle, kind fail.Kind, message string, hints []string) Failure {
	return Failure{Handle: handle, Error: Error{Kind: kinds[kind], Message: message, Hints: list(hints), ExitCode: int(kind)}}
}

// Version is the version of the program.
type Version struct {
	Version string `json:"version"`
	Go      string `json:"go"`
	OS      string `json:"os"`               // for which it was built, as Go names it: linux or darwin
	Arch    string `json:"arch"`             // amd64 or arm64
	Commit  string `json:"commit,omitempty"` // of its source, if the build recorded it
}
