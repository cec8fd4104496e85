package serve

import (
	"cmp"
	"context"
	"errors"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/platform/fswatch"
	"nbs-worker/internal/team/answer"
	"nbs-worker/internal/team/attention"
	"nbs-worker/internal/team/inspect"
	"nbs-worker/internal/team/observe"
	"nbs-worker/internal/team/subscribe"
)

// NeedsOf returns what tells chats of the needs of a project's agents. The caller sets how posts are sent.
func (s *Server) NeedsOf(chats []string) *Needs {
	project := s.Engine.Project
	return &Needs{
		Chats: chats, Notes: project.Store.Deliveries(), Fate: project.Store.Requests().FateOf, Now: project.Now, Said: s.Said,
	}
}

// Watch tells until the context ends, whenever an agent, a request or a look of a person changes something.
func (n *Needs) Watch(ctx context.Context, project *observe.Project, bands agent.Bands) error {
	signs, err := subscribe.To(project, subscribe.Wanted{Files: []string{project.Store.Seen().Path()}})
	if err != nil {
		return err
	}
	defer signs.Close()
	asked, err := fswatch.New()
	if err != nil {
		return err
	}
	defer asked.Close()
	folder := project.Store.Requests().Folder()
	if err := asked.Folder(folder); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	n.Look = func(ctx context.Context) (*Needed, error) { return lookAtNeeds(ctx, project, bands, signs) }
	kicks := make(chan struct{}, 1)
	kick := func() {
		select {
		case kicks <- struct{}{}:
		default:
		}
	}
	failed := make(chan error, 2)
	go func() {
		for {
			if err := cmp.Or(asked.Change(ctx), asked.Folder(folder)); err != nil { // it may have been made
				failed <- err
				cancel()
				return
			}
			kick()
		}
	}()
	go func() {
		for {
			select {
			case _, goesOn := <-signs.C():
				if !goesOn {
					failed <- signs.Err()
					cancel()
					return
				}
				kick()
			case <-ctx.Done():
				failed <- nil
				return
			}
		}
	}()
	err = n.Run(ctx, kicks)
	cancel()
	for range 2 {
		if other := <-failed; other != nil && !errors.Is(other, context.Canceled) {
			err = errors.Join(err, other)
		}
	}
	return err
}

// lookAtNeeds looks at the agents of a project. signs learns what the look showed.
func lookAtNeeds(ctx context.Context, project *observe.Project, bands agent.Bands, signs *subscribe.Signs) (*Needed, error) {
	rows, err := inspect.New(project).List(ctx)
	if err != nil {
		return nil, err
	}
	open, err := answer.New(project, nil).List(ctx)
	if err != nil {
		return nil, err
	}
	now := &Needed{Requests: open}
	judge := attention.NewJudge(project, bands)
	for i, need := range judge.Rows(rows) {
		row := &rows[i]
		signs.Looked(row.Handle, &row.Sight)
		now.Agents = append(now.Agents, AgentNeed{
			Handle: row.Handle, Need: need, Looked: judge.Seen[row.Handle.Key()], Unknown: row.Status.State == agent.Unknown, State: row.Status.Word(),
		})
	}
	return now, nil
}
