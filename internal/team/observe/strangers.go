package observe

import (
	"cmp"
	"slices"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/claude"
	"nbs-worker/internal/claude/cmdline"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
)

// Stranger is a running claude that has an agent's conversation open and is not the recorded process. Claude itself
// allows any number of them, and the conversation forks. A process of another user never counts, whatever its name:
// it cannot write the transcript, and must not keep an agent down or end one.
type Stranger struct {
	PID int    `json:"pid"`
	Cwd string `json:"cwd"`
}

// Strangers looks for them in Claude's registry, which has the present id of each session, and on the command lines
// of this machine. In its first half second a claude is not in the registry, and at a dialog it may never be.
func (o *Project) Strangers(r *agent.Record) ([]Stranger, error) {
	config, err := o.ConfigOf(r)
	if err != nil {
		return nil, err
	}
	registered, err := o.registeredStrangers(r, config)
	if err != nil {
		return nil, err
	}
	unregistered, err := o.unregisteredStrangers(r, config)
	for _, other := range unregistered {
		if !slices.ContainsFunc(registered, func(s Stranger) bool { return s.PID == other.PID }) {
			registered = append(registered, other)
		}
	}
	return registered, err
}

func (o *Project) registeredStrangers(r *agent.Record, config claude.Config) ([]Stranger, error) {
	open, err := config.Registry().OpenOn(r.SessionID)
	if err != nil {
		return nil, err
	}
	var found []Stranger
	for _, live := range open {
		id, err := o.Machine.Identify(live.PID)
		if err == nil && live.Start.Is(id.StartTicks) && !o.ofThisStart(r, id) && o.Machine.IsOurs(id.PID) {
			found = append(found, Stranger{PID: live.PID, Cwd: live.Cwd})
		}
	}
	return found, nil
}

// unregisteredStrangers returns the claudes that were started on the conversation, without those that the registry
// has in another one now. It looks at every process of the machine.
func (o *Project) unregisteredStrangers(r *agent.Record, config claude.Config) ([]Stranger, error) {
	onIt, err := o.Machine.Find(string(r.SessionID), func(words []string) bool {
		return cmdline.RunsOn(words, r.SessionID)
	})
	if err != nil {
		return nil, err
	}
	var found []Stranger
	for _, id := range onIt {
		live, err := config.Registry().Entry(id.PID) // it may have appeared since the registry was listed
		if err == nil && live.SessionID != r.SessionID || o.ofThisStart(r, id) {
			continue
		}
		cwd, err := o.Machine.Cwd(id.PID)
		if err != nil {
			continue // it is ending, and has lost its folder and its mark already; or we may not read it
		}
		if words, err := o.Machine.Cmdline(id.PID); err == nil && !cmdline.RunsOn(words, r.SessionID) {
			continue // a child of the agent, which had its parent's command line until its exec, and no readable mark during that
		}
		found = append(found, Stranger{PID: id.PID, Cwd: cwd})
	}
	return found, nil
}

// VisibleStrangers is [Project.Strangers] for a look at an agent. While the agent runs, a look should cost about
// one call of tmux and not grow with the machine. So it reads only the registry, and sees a stranger only after the
// stranger has passed its dialogs.
func (o *Project) VisibleStrangers(r *agent.Record) ([]Stranger, error) {
	if r.Process == nil || o.Machine.IsGone(r.Process.Identity) {
		return o.Strangers(r)
	}
	config, err := o.ConfigOf(r)
	if err != nil {
		return nil, err
	}
	return o.registeredStrangers(r, config)
}

// ofThisStart reports whether a process is the agent's own, or a wrapper around it. The agent's own process may be
// ending: its environment disappears before the process does.
func (o *Project) ofThisStart(r *agent.Record, id agent.Identity) bool {
	if r.Process == nil {
		return false
	}
	recorded := r.Process.Identity
	recorded.Host = id.Host // the host may have been renamed since
	of := o.Lineage()
	return id == recorded || of.Carries(r, id.PID) || of.HiddenBelow(r, id.PID)
}

// ErrStranger returns the error for opening a conversation that another claude has open; nil if no other has.
func (o *Project) ErrStranger(r *agent.Record, strangers []Stranger) error {
	if len(strangers) == 0 {
		return nil
	}
	other := strangers[0]
	err := fail.Errorf(fail.Conflict, "another claude has the conversation %s open: pid %d in %s", r.SessionID, other.PID, human.Quote(other.Cwd))
	if id, gone := o.Machine.Identify(other.PID); gone == nil {
		if named, _ := o.Lineage().AgentsOf(o.Store, id.PID, id.StartTicks); len(named) > 0 {
			return err.Hint("it is agent %[1]s; to switch it to another conversation: nbs-worker attach %[1]s; or to end it: nbs-worker stop %[1]s", named[0])
		}
	}
	return err.Hint("end it in its own terminal with /exit; nbs-worker does not touch a process that it did not start")
}

// CheckUnrecorded refuses a conversation that another agent of the project has, or may have. If a record cannot be
// read, the error names it.
func (o *Project) CheckUnrecorded(r *agent.Record) error {
	handles, err := o.Store.Handles()
	if err != nil {
		return err
	}
	var unread error
	for _, handle := range handles {
		other, err := o.Store.Load(handle)
		switch {
		case err == nil && other.SessionID == r.SessionID:
			return fail.Errorf(fail.Conflict, "the conversation %s belongs to agent %s", r.SessionID, handle).
				Hint("nbs-worker resume %s", handle)
		case fail.KindOf(err) != fail.NotFound: // otherwise it was just dismissed
			unread = cmp.Or(unread, err)
		}
	}
	return unread
}

// HintAside adds how to move a wrong record aside and go on with its conversation.
func (o *Project) HintAside(err *fail.Error, r *agent.Record, when string) *fail.Error {
	return err.Hint("%s, move its record aside: %s", when, o.Store.MoveAside(r.Handle)).
		Hint("and continue its conversation: nbs-worker spawn %s --session-id %s", r.Handle, r.SessionID)
}
