package dash

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/team/attention"
)

// Row is an agent on the screen. Its texts are harmless, and of one line unless said otherwise.
type Row struct {
	Handle agent.Handle
	State  string // in one word
	Since  time.Time
	Need   *attention.Need // nil: it needs no person
	Model  string
	Left   int // percent of the context; negative: unknown
	Band   agent.Band
	Cost   string
	What   string // the question, the task, or the last words
	Ask    *Ask   // what y and N answer; nil: nothing
}

// Ask is a request that is open.
type Ask struct {
	ID    string
	Title string
	Body  string // several lines
	Plain bool   // it is allowed or denied; false: a question with choices of its own
}

// order sorts rows: those that need a person, by need; then the others by name.
func order(rows []Row) {
	slices.SortStableFunc(rows, func(a, b Row) int {
		switch {
		case a.Need != nil && b.Need != nil:
			return cmp.Or(attention.Compare(a.Need, b.Need), cmp.Compare(a.Handle, b.Handle))
		case a.Need != nil:
			return -1
		case b.Need != nil:
			return 1
		}
		return cmp.Compare(a.Handle.Key(), b.Handle.Key())
	})
}

// matches reports whether a row has the words of a filter.
func (r *Row) matches(filter string) bool {
	text := strings.ToLower(string(r.Handle) + " " + r.State + " " + r.Model + " " + r.What)
	for word := range strings.FieldsSeq(strings.ToLower(filter)) {
		if !strings.Contains(text, word) {
			return false
		}
	}
	return true
}
