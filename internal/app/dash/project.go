package dash

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/app/wire"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/host/link"
	"nbs-worker/internal/human"
	"nbs-worker/internal/store/journal"
	"nbs-worker/internal/store/requests"
	"nbs-worker/internal/team/answer"
	"nbs-worker/internal/team/attention"
	"nbs-worker/internal/team/history"
	"nbs-worker/internal/team/inspect"
	"nbs-worker/internal/team/subscribe"
)

// project is what is known of the agents of one project.
type project struct {
	inspector *inspect.Inspector
	bands     agent.Bands
	words     Words
	signs     *subscribe.Signs
	journal   *journal.Tail

	due  map[agent.Handle]bool // a look at them is due
	all  bool                  // a look at all is due
	last map[agent.Handle]*inspect.Row
	rows map[agent.Handle]Row
	past []event // the last ones of the journal
}

// event is a line of the journal.
type event struct {
	at   time.Time
	text string
}

func follow(inspector *inspect.Inspector, bands agent.Bands, words Words) (*project, error) {
	store := inspector.Project.Store
	signs, err := subscribe.To(inspector.Project, subscribe.Wanted{
		Files: []string{store.Seen().Path(), store.Requests().Folder() + subscribe.AnyFile, store.Journal().Path()},
	})
	if err != nil {
		return nil, err
	}
	return &project{inspector: inspector, bands: bands, words: words, signs: signs, journal: store.Journal().Tail(), due: map[agent.Handle]bool{}, all: true}, nil
}

func (p *project) close() {
	p.signs.Close()
	_ = p.journal.Close()
}

func (p *project) path() string { return p.inspector.Project.Store.Project() }

// changed notes what a sign says. It is not called during a look.
func (p *project) changed(s subscribe.Sign) {
	if s.Handle == "" {
		p.all = true
		return
	}
	p.due[s.Handle] = true
}

// look looks at the agents that may have changed.
func (p *project) look(ctx context.Context) error {
	open, err := p.inspector.Project.Store.Requests().List()
	if err != nil {
		return err
	}
	var listed []inspect.Row
	if p.all {
		if listed, err = p.inspector.List(ctx); err != nil {
			return err
		}
		p.last, p.rows = map[agent.Handle]*inspect.Row{}, map[agent.Handle]Row{}
	} else {
		some := slices.Collect(maps.Keys(p.due))
		listed = p.inspector.ListSome(ctx, some)
		for _, handle := range some {
			delete(p.last, handle)
			delete(p.rows, handle)
		}
	}
	p.all, p.due = false, map[agent.Handle]bool{}
	judge := attention.NewJudge(p.inspector.Project, p.bands)
	for i := range listed {
		row := &listed[i]
		p.last[row.Handle], p.rows[row.Handle] = row, p.row(row, judge.Row(row), askOf(open, row.Handle), judge.Now)
		p.signs.Looked(row.Handle, &row.Sight)
	}
	return p.readJournal()
}

// readJournal reads the events since the last time. A journal that was replaced is read from its beginning.
func (p *project) readJournal() error {
	return p.journal.Read(func(e journal.Event) error {
		text := strings.TrimSpace(fmt.Sprintf("%s %s  %s", e.Event, e.Handle, e.Detail))
		if p.past = append(p.past, event{e.At, harmless(text)}); len(p.past) > 2*journalLines {
			p.past = slices.Delete(p.past, 0, journalLines)
		}
		return nil
	}, func() { p.past = nil })
}

// addTo adds the project to a sight of all.
func (p *project) addTo(sight *Sight) {
	now, listed := p.inspector.Project.Now(), make([]inspect.Row, 0, len(p.last))
	for handle, row := range p.last {
		sight.Rows = append(sight.Rows, p.rows[handle])
		listed = append(listed, *row)
	}
	for _, one := range inspect.Limits(listed, now) {
		if words := p.words.Limits(&one.Limits, now); words != "" && sight.Limits == "" {
			sight.Limits = words // of the first account: others are in list --wide
		}
	}
	sight.Journal = append(sight.Journal, p.past...)
}

// lastOf returns the last events, in the order of time.
func lastOf(all []event) []event {
	slices.SortStableFunc(all, func(a, b event) int { return a.at.Compare(b.at) })
	return all[max(0, len(all)-journalLines):]
}

// row puts an agent in words.
func (p *project) row(of *inspect.Row, need *attention.Need, ask *Ask, now time.Time) Row {
	model := strings.TrimPrefix(string(cmp.Or(of.Model, of.Record.Model)), "claude-")
	state, _, _ := strings.Cut(of.Status.Word(), ":")
	r := Row{Who: Who{Project: p.path(), Handle: of.Handle}, State: state, Need: need, Left: -1, Cost: -1, Ask: ask, Model: harmless(model)}
	if of.Status.Age != nil {
		r.Since = now.Add(-*of.Status.Age)
	}
	if of.Context != nil {
		r.Left = of.Context.LeftPercent()
		r.Band = p.bands.Of(r.Left)
	}
	if of.Cost != nil {
		r.Cost = of.Cost.USD
	}
	if tree := of.Report.Worktree; tree != nil {
		r.Branch = harmless(cmp.Or(tree.Branch, tree.Name))
	}
	r.Pull = harmless(p.words.Pull(of.Report.Pull))
	r.Job = wire.NewJob(of.Job).Words()
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

const moreThanAScreen = 1 << 16 // characters

// askOf returns the oldest open request of an agent.
func askOf(open []requests.Request, handle agent.Handle) *Ask {
	for i := range open {
		if open[i].Handle.Same(handle) {
			text := answer.Describe(open[i])
			body := human.Cut(text.Body, moreThanAScreen, human.Letter)
			return &Ask{ID: open[i].ID, Title: text.Title, Body: body, Plain: len(text.Questions) == 0}
		}
	}
	return nil
}

// isSeen reports whether the user has looked at what an agent needs.
func (p *project) isSeen(handle agent.Handle) bool {
	need := p.rows[handle].Need
	return need == nil || need.Seen
}

const lookLimit = 5 * time.Second // at a node

func (p *project) screen(ctx context.Context, of *inspect.Row) (string, error) {
	if job := p.inspector.Project.JobElsewhere(&of.Sight); job != nil {
		shown, err := p.inspector.Project.AtNode(ctx, lookLimit, *job, "screen", string(of.Handle))
		if err == nil && shown.Code != 0 {
			err = errors.New(link.ReadComplaint(shown.Code, shown.Said).What)
		}
		return human.Legible(shown.Out), err
	}
	if of.Pane == nil {
		return "", fail.Errorf(fail.NotFound, "it has no terminal")
	}
	client, err := p.inspector.Project.Client(&of.Record)
	if err != nil {
		return "", err
	}
	shown, err := client.Styled(ctx, of.Pane.ID)
	return shown.Text, err
}

// conversation returns what was said last: who, and the words.
func (p *project) conversation(ctx context.Context, of *inspect.Row) (string, error) {
	const messages = 20
	var text strings.Builder
	err := history.Logs(ctx, p.inspector.Project, history.LogQuery{Handle: of.Handle, Last: messages}, history.LogReader{
		Said: func(m history.Said) error {
			fmt.Fprintf(&text, "%s: %s\n", m.Speaker, human.Legible(strings.TrimSpace(m.Text)))
			return nil
		},
		Session: func(history.LogSession) error { return nil },
		Note:    func(string) {},
	})
	return text.String(), err
}
