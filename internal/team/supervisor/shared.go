package supervisor

import (
	"context"
	"errors"
	"strings"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/human"
	"nbs-worker/internal/platform/folder"
	"nbs-worker/internal/store/queue"
	"nbs-worker/internal/team/observe"
)

// Agents share a worktree only if a spawn names its folder. Both are told then: the new one at its start, the others by a
// message.

// sharing returns the other agents in the worktree that was made for one of them, if a new agent works there too.
func (s *Supervisor) sharing(r *agent.Record) (tree string, others []agent.Record) {
	records, err := s.Project.Store.Records()
	if err != nil {
		return "", nil // the start says so
	}
	for i := range records {
		if own := records[i].Record.OwnWorktree.Path; own != "" && !records[i].Handle.Same(r.Handle) && folder.Contains(own, r.LaunchCwd()) {
			tree = own
		}
	}
	for i := range records {
		one := records[i].Record
		if tree != "" && records[i].Err == nil && !one.Handle.Same(r.Handle) && folder.Contains(tree, one.LaunchCwd()) {
			others = append(others, one)
		}
	}
	return tree, others
}

// sharedBrief returns what a new agent is told of the others in its worktree.
func sharedBrief(tree string, others []agent.Record) string {
	if len(others) == 0 {
		return ""
	}
	names := make([]string, len(others))
	for i := range others {
		names[i] = string(others[i].Handle)
	}
	return "nbs-worker: other agents work in the git worktree " + human.Quote(tree) + " too: " + strings.Join(names, ", ") +
		". A file that you did not change may have been changed by one of them. Neither undo nor commit their changes."
}

// tellSharing puts a message for each of the others into its outbox. A launcher delivers it when its agent is idle.
func (s *Supervisor) tellSharing(ctx context.Context, handle agent.Handle, tree string, others []agent.Record) error {
	const from = "[nbs-worker] "
	var errs []error
	for i := range others {
		r := &others[i]
		if s.Project.Store.CheckSeal(r) != nil {
			continue
		}
		_, err := s.Project.Store.Outbox(r.Handle).Add(ctx, queue.Entry{
			From: from, Created: s.Project.Seconds(), State: queue.Waiting,
			Text: from + "The agent " + string(handle) + " now works in the git worktree " + human.Quote(tree) +
				" too. A file that you did not change may have been changed by it. Neither undo nor commit its changes. No reply is needed.",
		})
		if err == nil && r.Process != nil {
			observe.Wake(s.Project.Machine, r)
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}
