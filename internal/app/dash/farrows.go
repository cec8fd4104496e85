package dash

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/app/wire"
	"nbs-worker/internal/host/link"
	"nbs-worker/internal/human"
	"nbs-worker/internal/store/views"
	"nbs-worker/internal/team/attention"
)

// farRows are the rows of a host, as it has printed them. What a host prints is not trusted: it is checked, and shown
// harmless.
type farRows struct {
	host  string
	words Words

	mu       sync.Mutex
	rows     map[Who]farRow
	asks     map[Who]*Ask
	all      bool     // all rows are to be read
	reading  bool     // they are read
	meantime [][]byte // lines that have come since that began
	trouble  string
	asOf     time.Time // the rows were true
	coming   bool      // the host has not answered yet, and has not failed to
	silent   bool      // it has given no sign of life for a while
}

// farRow is a row, and the JSON that it was made of.
type farRow struct {
	Row

	text   json.RawMessage
	limits *agent.Limits // of its account; nil: unknown
}

func newFarRows(host string, words Words) farRows {
	return farRows{host: host, words: words, rows: map[Who]farRow{}, asks: map[Who]*Ask{}}
}

// begin notes that all rows are read: what the stream says in the meantime is newer, or comes again.
func (r *farRows) begin() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.all, r.reading, r.meantime = false, true, nil
}

func (r *farRows) end() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.reading, r.meantime = false, nil
}

func (r *farRows) wantAll() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.all = true
}

func (r *farRows) wantsAll() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.all
}

// replace takes all rows, as list prints them.
func (r *farRows) replace(text []byte, at time.Time) error {
	var listed []json.RawMessage
	if err := json.Unmarshal(text, &listed); err != nil {
		return errors.New("what it prints cannot be read")
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.rows = map[Who]farRow{}
	for _, one := range append(listed, agent.Mapped(r.meantime, func(line []byte) json.RawMessage { return line })...) {
		r.set(one, at)
	}
	r.trouble, r.asOf, r.coming, r.silent = "", at, false, false
	return nil
}

// take takes a line of list --watch.
func (r *farRows) take(line []byte, at time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	line = slices.Clone(line)
	if r.reading {
		r.meantime = append(r.meantime, line)
	}
	r.set(line, at)
	r.asOf, r.silent = at, false
}

// set takes a row. It ignores a row that cannot be read.
func (r *farRows) set(text json.RawMessage, at time.Time) {
	var one struct {
		wire.Agent

		Dismissed bool `json:"dismissed"`
	}
	if json.Unmarshal(text, &one) != nil {
		return
	}
	if _, err := agent.ParseHandle(string(one.Handle)); err != nil {
		return
	}
	row := r.row(&one.Agent, at)
	if one.Dismissed {
		delete(r.rows, row.Who)
		return
	}
	r.rows[row.Who] = farRow{row, text, limitsOf(one.Limits, at)}
}

// row puts an agent in words, as a project does.
func (r *farRows) row(a *wire.Agent, at time.Time) Row {
	model := a.Model
	if a.RunningModel != nil {
		model = cmp.Or(*a.RunningModel, model)
	}
	row := Row{
		Who: Who{Project: a.Project, Handle: a.Handle, Host: r.host}, State: harmless(a.State), Left: -1, Cost: -1,
		Model: harmless(strings.TrimPrefix(string(model), "claude-")), Pull: harmless(r.words.Pull((*agent.PullRequest)(a.PullRequest))),
	}
	if a.StateAgeMS != nil {
		row.Since = at.Add(-time.Duration(*a.StateAgeMS) * time.Millisecond)
	}
	if need := a.Needs; need != nil {
		row.Need = &attention.Need{Reason: attention.Reason(harmless(string(need.Reason))), Seen: need.Seen}
		if need.Since != nil {
			row.Need.Since = *need.Since
		}
	}
	if a.Context != nil {
		row.Left, row.Band = max(0, a.Context.LeftPercent), a.Context.Band
	}
	if a.Cost != nil {
		row.Cost = a.Cost.USD
	}
	switch {
	case a.Worktree != nil:
		row.Branch = harmless(cmp.Or(a.Worktree.Branch, a.Worktree.Name))
	case a.OwnWorktree != nil:
		row.Branch = harmless(a.OwnWorktree.Branch)
	}
	row.Job = harmless(a.Job.Words())
	if a.What != nil {
		row.What = harmless(a.What.Text)
	}
	return row
}

// limitsOf reads the limits of an account.
func limitsOf(from *wire.Limits, at time.Time) *agent.Limits {
	if from == nil {
		return nil
	}
	return &agent.Limits{
		FiveHour: limitOf(from.FiveHour), SevenDay: limitOf(from.SevenDay), Spend: limitOf(from.Spend), Since: at.Add(-time.Duration(from.AgeS) * time.Second),
	}
}

func limitOf(from *wire.Limit) *agent.Limit {
	if from == nil || from.ResetsAt == nil {
		return nil
	}
	return &agent.Limit{UsedPercent: from.UsedPercent, ResetsAt: *from.ResetsAt}
}

// waiting returns the projects whose agents wait. What others asked is over.
func (r *farRows) waiting() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	projects := map[string]bool{}
	for who, row := range r.rows {
		if row.State == string(agent.Waiting) {
			projects[who.Project] = true
		} else {
			delete(r.asks, who)
		}
	}
	return slices.Sorted(maps.Keys(projects))
}

// asked takes what the agents of a project ask, as requests prints it: the oldest request of each.
func (r *farRows) asked(project string, text []byte) error {
	var open []wire.Request
	if err := json.Unmarshal(text, &open); err != nil {
		return errors.New("what it prints cannot be read")
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	maps.DeleteFunc(r.asks, func(who Who, _ *Ask) bool { return who.Project == project })
	for _, one := range slices.Backward(open) {
		who := Who{Project: project, Handle: one.Handle, Host: r.host}
		if one.ID == "" || one.ID[0] == '-' { // it becomes an argument
			continue
		}
		body := human.Cut(human.Legible(one.Text), moreThanAScreen, human.Letter)
		r.asks[who] = &Ask{ID: one.ID, Title: harmless(one.Title), Body: body, Plain: len(one.Questions) == 0}
	}
	return nil
}

// ByHand is the end of a trouble after which only the user has the host asked again.
const ByHand = " (t asks again)"

// lose notes why the rows are true no more.
func (r *farRows) lose(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.coming, r.silent = false, false
	if un, is := errors.AsType[*link.Unreachable](err); is {
		r.trouble = Unreachable + ": " + un.Words()
	} else if errors.Is(err, context.DeadlineExceeded) {
		r.trouble = Unreachable + ": it did not answer in time"
	} else {
		r.trouble = harmless(err.Error())
	}
	if byHand(err) {
		r.trouble += ByHand
	}
}

// ageing is how often it is asked whether the rows are still true.
const ageing = 10 * time.Second

// stillTrue takes when the host gave its last sign of life, up to which the rows are true, and reports whether the user should
// see it: the host is silent, or was.
func (r *farRows) stillTrue(heard, now time.Time) (tell bool) {
	const beatMissed = 2 * ageing
	r.mu.Lock()
	defer r.mu.Unlock()
	if heard.After(r.asOf) {
		r.asOf = heard
	}
	was := r.silent
	r.silent = now.Round(0).Sub(r.asOf) > beatMissed // by the clock on the wall, which goes on in a sleep
	return r.silent || was
}

// shown returns the rows, and whether they are true.
func (r *farRows) shown() (rows []Row, place Place) {
	r.mu.Lock()
	defer r.mu.Unlock()
	var limits *agent.Limits
	for who, one := range r.rows {
		row := one.Row
		if one.limits != nil && (limits == nil || one.limits.Since.After(limits.Since)) {
			limits = one.limits
		}
		if ask := r.asks[who]; ask != nil && row.State == string(agent.Waiting) {
			row.Ask, row.What = ask, ask.Title
		}
		rows = append(rows, row)
	}
	place = Place{Host: r.host, Trouble: r.trouble, AsOf: r.asOf, Coming: r.coming}
	if r.silent {
		place.Trouble = cmp.Or(place.Trouble, Silent)
	}
	if limits != nil {
		place.Limits = harmless(r.words.Limits(limits, time.Now()))
	}
	return rows, place
}

// view returns the rows as list prints them.
func (r *farRows) view() views.View {
	r.mu.Lock()
	defer r.mu.Unlock()
	listed := []json.RawMessage{}
	for _, who := range slices.SortedFunc(maps.Keys(r.rows), func(a, b Who) int {
		return cmp.Or(a.group().compare(b.group()), cmp.Compare(a.Handle, b.Handle))
	}) {
		listed = append(listed, r.rows[who].text)
	}
	text, _ := json.Marshal(listed) // it was JSON
	return views.View{At: r.asOf.UTC(), Text: string(text) + "\n"}
}

// lines splits a stream.
type lines struct {
	take func(line []byte, first bool)
	full func() // called when the host has much to keep

	rest  []byte
	begun bool
	size  int
}

func (l *lines) Write(text []byte) (int, error) {
	const much, wide = 8 << 20, 1 << 20 // bytes
	l.rest = append(l.rest, text...)
	for {
		line, rest, is := bytes.Cut(l.rest, []byte("\n"))
		if !is {
			break
		}
		l.take(line, !l.begun)
		l.rest, l.begun = rest, true
	}
	l.rest = slices.Clone(l.rest)
	if l.size += len(text); l.size > much || len(l.rest) > wide {
		l.full()
	}
	return len(text), nil
}
