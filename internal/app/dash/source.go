package dash

import (
	"cmp"
	"context"
	"fmt"
	"sync"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
	"nbs-worker/internal/store/requests"
	"nbs-worker/internal/team/answer"
	"nbs-worker/internal/team/attention"
	"nbs-worker/internal/team/inspect"
	"nbs-worker/internal/team/subscribe"
)

// Project is the source of the agents of one project.
type Project struct {
	inspector *inspect.Inspector
	bands     agent.Bands
	limits    func(*agent.Limits, time.Time) string // in words
	signs     *subscribe.Signs

	taking sync.Mutex
	last   map[agent.Handle]*inspect.Row
	needs  map[agent.Handle]*attention.Need
}

// Follow returns the source of a project, which the caller closes. limits puts the limits of an account in words. Errors:
// Unfit at a limit of the kernel.
func Follow(inspector *inspect.Inspector, bands agent.Bands, limits func(*agent.Limits, time.Time) string) (*Project, error) {
	store := inspector.Project.Store
	signs, err := subscribe.To(inspector.Project, subscribe.Wanted{Files: []string{store.Seen().Path(), store.Requests().Folder() + subscribe.AnyFile}})
	if err != nil {
		return nil, err
	}
	return &Project{inspector: inspector, bands: bands, limits: limits, signs: signs}, nil
}

// Close ends the subscription.
func (p *Project) Close() { p.signs.Close() }

// Await implements [Source]. Changes that follow each other closely are one: a look is at all agents.
func (p *Project) Await(ctx context.Context) error {
	const together = 300 * time.Millisecond
	var over <-chan time.Time
	for {
		select {
		case _, open := <-p.signs.C():
			if !open {
				return p.signs.Err()
			}
			if over == nil {
				over = time.After(together)
			}
		case <-over:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// Look implements [Source].
func (p *Project) Look(ctx context.Context) (rows []Row, limits string, err error) {
	listed, err := p.inspector.List(ctx)
	if err != nil {
		return nil, "", err
	}
	open, err := p.inspector.Project.Store.Requests().List()
	if err != nil {
		return nil, "", err
	}
	judge := attention.NewJudge(p.inspector.Project, p.bands)
	p.taking.Lock()
	defer p.taking.Unlock()
	p.last, p.needs = map[agent.Handle]*inspect.Row{}, map[agent.Handle]*attention.Need{}
	for i := range listed {
		row := &listed[i]
		need := judge.Row(row)
		p.last[row.Handle], p.needs[row.Handle] = row, need
		p.signs.Looked(row.Handle, row.Status)
		rows = append(rows, p.row(row, need, askOf(open, row.Handle), judge.Now))
	}
	for _, one := range inspect.Limits(listed, judge.Now) {
		if words := p.limits(&one.Limits, judge.Now); words != "" && limits == "" {
			limits = words // of the first account: others are in list --wide
		}
	}
	return rows, limits, nil
}

// row puts an agent in words.
func (p *Project) row(of *inspect.Row, need *attention.Need, ask *Ask, now time.Time) Row {
	r := Row{Handle: of.Handle, State: of.Status.Word(), Need: need, Left: -1, Ask: ask, Model: string(cmp.Or(of.Model, of.Record.Model))}
	if of.Status.Age != nil {
		r.Since = now.Add(-*of.Status.Age)
	}
	if of.Context != nil {
		r.Left = of.Context.LeftPercent()
		r.Band = p.bands.Of(r.Left)
	}
	if of.Cost != nil {
		r.Cost = fmt.Sprintf("$%.2f", of.Cost.USD)
	}
	r.What = harmless(what(of, need, ask))
	return r
}

// what returns what an agent asks, lacks, said last, or was told to do.
func what(of *inspect.Row, need *attention.Need, ask *Ask) string {
	switch {
	case ask != nil:
		return ask.Title
	case of.Err != nil:
		return of.Err.Error()
	case need != nil && need.What != "":
		return need.What
	}
	if words := of.Report.Words; words != nil {
		return cmp.Or(words.Said, words.Prompt)
	}
	return of.Record.InitialPrompt
}

func harmless(text string) string { return human.Legible(human.OneLine(agent.ShortWords(text))) }

// askOf returns the oldest open request of an agent.
func askOf(open []requests.Request, handle agent.Handle) *Ask {
	for i := range open {
		if open[i].Handle.Same(handle) {
			text := answer.Describe(open[i])
			return &Ask{ID: open[i].ID, Title: text.Title, Body: text.Body, Plain: len(text.Questions) == 0}
		}
	}
	return nil
}

// Screen implements [Source].
func (p *Project) Screen(ctx context.Context, handle agent.Handle) (string, error) {
	p.taking.Lock()
	row, need := p.last[handle], p.needs[handle]
	p.taking.Unlock()
	if row == nil || row.Pane == nil {
		return "", fail.Errorf(fail.NotFound, "it has no terminal")
	}
	client, err := p.inspector.Project.Client(&row.Record)
	if err != nil {
		return "", err
	}
	shown, err := client.Styled(ctx, row.Pane.ID)
	if err == nil && need != nil && !need.Seen {
		err = p.inspector.Project.Store.Seen().Mark(ctx, p.inspector.Project.Now(), handle)
	}
	return shown.Text, err
}
