package observe

import (
	"slices"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/claude/cmdline"
	"nbs-worker/internal/claude/live"
	"nbs-worker/internal/claude/transcript"
	"nbs-worker/internal/platform/folder"
	"nbs-worker/internal/team/lineage"
)

// Drift is one difference between a record and the process that runs.
type Drift struct {
	Field    string `json:"field"`
	Recorded string `json:"recorded"`
	Live     string `json:"live"`
}

// DriftOf compares the record with the live process: its entry in Claude's registry, its command line, and the
// invocation in its environment. It does not compare what cannot be read. A folder that the session has entered by
// itself is not a difference.
func (o *Project) DriftOf(r *agent.Record) ([]Drift, error) {
	var found []Drift
	compare := func(field, recorded, live string) {
		if live != "" && live != recorded {
			found = append(found, Drift{Field: field, Recorded: recorded, Live: live})
		}
	}
	entry, err := o.Registered(r)
	if err == nil {
		compare("session_id", string(r.SessionID), string(entry.SessionID))
		if in := movedTo(r, entry.Cwd); in != "" && !o.entered(r).Includes(in) {
			compare("cwd", folder.Real(r.LaunchCwd()), in)
		}
	}
	words, err := o.Machine.Cmdline(r.Process.PID)
	if err != nil {
		return nil, err
	}
	if args, known := cmdline.ReadArgs(words); known {
		if entry.SessionID == "" { // otherwise the registry has the newer id: the command line is stale after /clear
			compare("session_id", string(r.SessionID), args.SessionID)
		}
		compare("model", string(r.Model), args.Model)
		compare("permission_mode", string(r.LaunchPermissionMode()), args.PermissionMode)
	}
	if r.Process.Adopted != nil {
		return found, nil // it has no invocation of ours
	}
	invocation := lineage.MarkOf(o.Machine, r.Process.PID)
	if invocation == "" && !o.Lineage().IsOf(r, r.Process.PID) {
		invocation = "none"
	}
	compare("invocation", string(r.Process.Invocation), string(invocation))
	return found, nil
}

// DriftIn is DriftOf for an agent that was seen. It also has the worktree that claude did not go back to at its start.
func (o *Project) DriftIn(s *Sight) []Drift {
	found, _ := o.DriftOf(&s.Record) // a process that ends during the comparison has no drift
	if s.Record.Process.OutOfWorktree {
		if worktree := o.OutOfWorktree(s); worktree != "" {
			found = append(found, Drift{Field: FieldWorktree, Recorded: worktree, Live: s.Record.LaunchCwd()})
		}
	}
	return found
}

// FieldWorktree is the field of a drift from the worktree that the transcript names.
const FieldWorktree = "worktree"

// movedTo returns the folder in which a session is, if it is not the recorded folder; otherwise "".
func movedTo(r *agent.Record, in string) string {
	if in == r.LaunchCwd() || in == folder.Real(r.LaunchCwd()) {
		return ""
	}
	return in
}

// worksIn returns the folder of a running agent's session if it is not the recorded folder, otherwise "". Claude's
// registry may name the recorded folder for good although claude has gone back to a worktree; its process does not.
func (o *Project) worksIn(r *agent.Record, entry *live.Entry) string {
	if entry == nil {
		return ""
	}
	if in := movedTo(r, entry.Cwd); in != "" {
		return in
	}
	if in, err := o.Machine.Cwd(r.Process.Claude().PID); err == nil && movedTo(r, in) != "" && folder.Exists(in) {
		return in
	}
	return ""
}

// OutOfWorktree returns the git worktree that claude was to go back to at a resume, if it has not; "" otherwise. Claude
// works in the recorded folder instead if git does not confirm the worktree within about two seconds. A person who has left
// the worktree with /cd is where they want to be.
func (o *Project) OutOfWorktree(s *Sight) string {
	if s.Status.Source != agent.FromRegistry || s.Status.State == agent.Unknown || s.WorksIn != "" {
		return ""
	}
	if in, err := o.Machine.Cwd(s.Record.Process.Claude().PID); err != nil || movedTo(&s.Record, in) != "" {
		return ""
	}
	entered := o.entered(&s.Record)
	hasLeft := entered.Relocated != "" && entered.Relocated != entered.Worktree
	if hasLeft || movedTo(&s.Record, entered.Worktree) == "" || !folder.Exists(entered.Worktree) {
		return ""
	}
	return entered.Worktree
}

// entered returns the folders to which the session has moved by itself, according to the transcript of its
// conversation. If the session has switched to a new conversation in this start, its transcript may not show the
// move; then the transcript before it counts.
func (o *Project) entered(r *agent.Record) transcript.Entered {
	config, err := o.ConfigOf(r)
	if err != nil {
		return transcript.Entered{}
	}
	of := []agent.SessionID{r.SessionID}
	for _, previous := range slices.Backward(r.PreviousSessions) {
		if !previous.Until.Before(r.Started) {
			of = append(of, previous.SessionID)
		}
	}
	for _, id := range of {
		file, found, err := config.Transcript(id)
		if err != nil || !found {
			continue
		}
		if entered, err := file.Entered(); err == nil && entered.Known {
			return entered
		}
	}
	return transcript.Entered{}
}
