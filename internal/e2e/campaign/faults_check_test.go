package campaign

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"nbs-worker/internal/e2e"
	"nbs-worker/internal/sim/faults"
	"nbs-worker/internal/sim/rig"
)

// The invariants, on what a user, the disk and the kernel show.

// check is what must hold after every fault, whatever was killed.
func (r *round) check() {
	r.Helper()
	r.checkRecord()
	r.checkPromise()
	r.checkExplained()
	r.checkOther()
	r.checkJournal()
}

// checkRecord: the record parses and has the id, or is legitimately not there.
func (r *round) checkRecord() {
	r.Helper()
	start, there, err := r.lastStart(subject)
	switch {
	case err != nil:
		r.Errorf("the record does not parse: %v", err)
	case there && r.id == "":
		r.id = start.SessionID
	case there && start.SessionID != r.id:
		r.Errorf("the conversation is %s, before it was %s", start.SessionID, r.id)
	case !there && r.fault.Verb == faults.Dismiss:
		r.MustBeInTheJournal("dismiss", subject, r.id)
	case !there && (r.fault.Verb != faults.Spawn || !r.fault.Hits(faults.TheVerb)):
		r.Errorf("the record is gone")
	}
	on := e2e.ClaudesOn(r.id)
	rig.Check(r, r.id == "" || len(on) <= 1, "claudes on the conversation: %v", on)
}

// checkPromise: what a verb claimed by exit code 0 is so.
func (r *round) checkPromise() {
	r.Helper()
	if r.verb.Code != 0 || r.fault.Hasty {
		return
	}
	switch r.fault.Verb {
	case faults.Spawn:
		// The number is asked for in any case.
	case faults.Resume, faults.Force:
		r.accept = []int{r.number} // the prompt was seen to be on disk
	case faults.Stop:
		rig.Check(r, r.settled.State == "stopped", "stop succeeded: %+v", r.settled)
	case faults.Dismiss:
		rig.Check(r, !r.there, "dismiss succeeded and the record is there")
	}
}

// checkExplained: every process and session that carries an invocation is of a start that a record names.
func (r *round) checkExplained() {
	r.Helper()
	explained := map[string]string{}
	for _, handle := range []string{subject, bystander} {
		if start, there, err := r.lastStart(handle); there && err == nil && start.Process.Invocation != "" {
			explained[start.Process.Invocation] = handle
		}
	}
	seen, _, _ := r.lastStart(subject)
	ending := r.mayBeEnding(seen)
	for _, p := range r.Processes() {
		switch owner, known := explained[p.Invocation]; {
		case ending && p.IsTransient(r.Worker):
			// The launcher of an agent that ends at this moment asks tmux for its last screen.
		case p.Invocation != "" && !known:
			r.Errorf("no record explains process %s", p)
		case p.Handle != "" && p.Handle != owner:
			r.Errorf("process %s belongs to %s", p, owner)
		case p.Invocation == "" && p.Name != "tmux: server":
			r.Errorf("a process that carries no invocation is left: %s", p)
		}
	}
	for _, s := range r.sessions() {
		_, known := explained[s.invocation]
		rig.Check(r, known, "no record explains the tmux session %s, invocation %q", s.name, s.invocation)
	}
}

// checkOther: nobody has touched the bystander, unless its tmux server was killed.
func (r *round) checkOther() {
	r.Helper()
	if !r.hasOther || r.fault.Hits(faults.Server) {
		return
	}
	if other := r.Session(bystander); other.RecordedPID != r.other.RecordedPID || other.State != "idle" || other.PID == 0 {
		r.Errorf("the bystander was touched: before %+v\nafter %+v", r.other, other)
	}
}

// checkJournal: every line can be read.
func (r *round) checkJournal() {
	r.Helper()
	for line := range strings.Lines(r.Journal()) {
		rig.Check(r, json.Valid([]byte(line)), "a line of the journal does not parse: %q", line)
	}
}

// checkRepaired is what must hold after the one resume: the agent is as it was, once, and nothing else is left.
func (r *round) checkRepaired() {
	r.Helper()
	s := r.Session(subject)
	start, _, _ := r.lastStart(subject)
	if r.id == "" {
		r.id = start.SessionID
	}
	if s.SessionID != r.id || s.Model != "sonnet" || s.PermissionMode != "bypassPermissions" || s.Desired != "running" {
		r.Errorf("the conversation is not what it was: %s, %+v", r.id, s)
	}
	rig.Check(r, s.Running && s.PID != 0 && s.TmuxAlive && len(s.Drift) == 0, "what runs is not what is recorded: %+v", s)
	on := e2e.ClaudesOn(r.id)
	rig.Check(r, len(on) == 1 && on[0] == s.RecordedPID, "claudes on the conversation: %v, recorded %d", on, s.RecordedPID)
	r.checkAlone(start)
	r.checkExplained()
	r.checkFiles()
}

// checkAlone: one launcher, one tmux session.
func (r *round) checkAlone(start startOf) {
	r.Helper()
	var launchers, sessions []string
	for _, p := range r.Processes() {
		if p.IsLauncher(r.Worker, subject) {
			launchers = append(launchers, p.String())
		}
	}
	for _, s := range r.sessions() {
		if s.invocation == start.Process.Invocation || strings.HasPrefix(s.name, "nbs-"+subject) {
			sessions = append(sessions, s.name)
		}
	}
	rig.Check(r, len(launchers) == 1 && len(sessions) == 1, "launchers %v, tmux sessions %v", launchers, sessions)
}

// sweptAfter is the age from which a verb removes temporary files that a killed one left.
const sweptAfter = time.Minute

// checkFiles: no launch file, which holds an environment, and no temporary file that is old enough to be swept.
func (r *round) checkFiles() {
	r.Helper()
	left := r.LaunchFiles()
	hidden, _ := filepath.Glob(r.InNbs("*", ".*.json*")) // the pattern is well formed
	for _, path := range hidden {
		if info, err := os.Stat(path); err == nil && time.Since(info.ModTime()) > 2*sweptAfter {
			left = append(left, fmt.Sprintf("%s of %s", path, info.ModTime()))
		}
	}
	rig.Check(r, len(left) == 0, "files left: %v", left)
}
