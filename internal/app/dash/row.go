package dash

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/team/attention"
)

// Who is an agent of a project.
type Who struct {
	Project string // its folder; of a host: "" for the one that the user has named for it
	Handle  agent.Handle
	Host    string // "": this machine
}

// name returns how the user names the agent in a command line.
func (w Who) name() string {
	if w.Host != "" {
		return string(w.Handle) + "@" + w.Host
	}
	return string(w.Handle)
}

// there returns a command line for the project of the agent, at its machine.
func (w Who) there(args []string) []string {
	if w.Project == "" {
		return args
	}
	return slices.Concat(args[:1], []string{"--root=" + w.Project}, args[1:])
}

// group is where an agent is: rows of a group stand together.
type group struct{ host, project string }

func (w Who) group() group { return group{w.Host, w.Project} }

func (g group) compare(other group) int {
	return cmp.Or(cmp.Compare(g.host, other.host), cmp.Compare(g.project, other.project))
}

// Row is an agent on the screen. Its texts are harmless, and of one line unless said otherwise.
type Row struct {
	Who

	State  string // in one word
	Since  time.Time
	Need   *attention.Need // nil: it needs no person
	Model  string
	Left   int // percent of the context; negative: unknown
	Band   agent.Band
	Cost   float64 // USD; negative: unknown
	What   string  // the question, the task, or the last words
	Ask    *Ask    // what y and N answer; nil: nothing
	Branch string
	Pull   string // its pull request: "#12 approved"
	Job    string // of Slurm, in which it runs or waits, as list shows it; "": none
	Usage  *Usage // at a host; nil: unknown
}

// Ask is a request that is open.
type Ask struct {
	ID    string
	Title string
	Body  string // several lines
	Plain bool   // it is allowed or denied; false: a question with choices of its own
}

// Usage is what the processes of an agent use of the machine.
type Usage struct {
	Memory uint64  // bytes
	CPU    float64 // percent of a core, since the measurement before; negative: unknown
}

// sorting is what rows are sorted by.
type sorting int

const (
	byNeed sorting = iota
	byName
	byContext
	byCost
)

// sortings are the keys 1 to 4.
var sortings = []string{"need", "name", "context", "cost"}

// order sorts rows. With grouped, those of a group stand together; the group whose row comes first is the first.
func order(rows []Row, by sorting, grouped bool) {
	slices.SortStableFunc(rows, func(a, b Row) int { return cmp.Or(by.compare(&a, &b), a.compareName(&b)) })
	if !grouped {
		return
	}
	place := map[group]int{}
	for i := range slices.Backward(rows) {
		place[rows[i].group()] = i
	}
	if by == byName {
		for i, group := range slices.SortedFunc(maps.Keys(place), group.compare) {
			place[group] = i
		}
	}
	slices.SortStableFunc(rows, func(a, b Row) int { return place[a.group()] - place[b.group()] })
}

func (s sorting) compare(a, b *Row) int {
	switch s {
	case byContext:
		return compareKnown(a.Left >= 0, b.Left >= 0, a.Left-b.Left)
	case byCost:
		return cmp.Compare(b.Cost, a.Cost)
	case byName:
		return 0
	case byNeed:
	}
	return compareKnown(a.Need != nil, b.Need != nil, func() int {
		if a.Need == nil || b.Need == nil {
			return 0
		}
		return attention.Compare(a.Need, b.Need)
	}())
}

// compareKnown orders what is known before what is not.
func compareKnown(a, b bool, both int) int {
	switch {
	case a && b:
		return both
	case a:
		return -1
	case b:
		return 1
	}
	return 0
}

func (r *Row) compareName(other *Row) int {
	return cmp.Or(cmp.Compare(r.Handle.Key(), other.Handle.Key()), r.group().compare(other.group()))
}

// matches reports whether a row has the words of a filter.
func (r *Row) matches(filter string) bool {
	text := strings.ToLower(strings.Join([]string{string(r.Handle), r.State, r.Model, r.Branch, r.What, r.Job, r.Project, r.Host}, " "))
	for word := range strings.FieldsSeq(strings.ToLower(filter)) {
		if !strings.Contains(text, word) {
			return false
		}
	}
	return true
}
