package observe

import (
	"nbs-worker/internal/agent"
	"nbs-worker/internal/claude"
	"nbs-worker/internal/proc"
)

// Drift is one difference between a record and the process that runs.
type Drift struct {
	Field    string `json:"field"`
	Recorded string `json:"recorded"`
	Live     string `json:"live"`
}

// DriftOf compares the record with the live process: what Claude's registry says of
// it, its command line, and the invocation in its environment. What cannot be read
// is not compared.
func (o *Observer) DriftOf(r *agent.Record) ([]Drift, error) {
	var found []Drift
	compare := func(field, recorded, live string) {
		if live != "" && live != recorded {
			found = append(found, Drift{Field: field, Recorded: recorded, Live: live})
		}
	}
	live, err := o.Registered(r)
	if err == nil {
		compare("session_id", string(r.SessionID), string(live.SessionID))
		compare("cwd", RealPath(r.LaunchCwd()), live.Cwd)
	}
	cmdline, err := proc.Cmdline(r.Process.PID)
	if err != nil {
		return nil, err
	}
	if args, known := claude.ReadArgs(cmdline); known {
		if live.SessionID == "" { // else the registry knows better: the line is stale after /clear
			compare("session_id", string(r.SessionID), args.SessionID)
		}
		compare("model", string(r.Model), args.Model)
		compare("permission_mode", string(r.LaunchPermissionMode()), args.PermissionMode)
	}
	if r.Process.Adopted != nil {
		return found, nil // it has no invocation of ours
	}
	invocation, _ := proc.Variable(r.Process.PID, agent.InvocationVariable)
	if invocation == "" && !o.Marked(r, r.Process.PID) {
		invocation = "none"
	}
	compare("invocation", string(r.Process.Invocation), invocation)
	return found, nil
}
