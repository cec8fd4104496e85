package turn

import (
	"slices"
	"time"
)

// Spoken is what claude said in a turn that it began by itself, because a background task had ended.
type Spoken struct {
	ID      string // of claude's result, a UUID
	Outcome        // its answer may be empty: only the cost counts then
}

// Beside is what a claude does beside the turns that it was asked for.
type Beside struct {
	Tasks    []string // what it runs in the background, in words
	Speaking bool     // it says something by itself, or is about to
	Lost     bool     // a task of an earlier claude was ended before it had finished
	Later    bool     // it had background tasks, so that it may have something to say although no task runs
}

// Busy reports whether there is something that would be lost if claude were ended.
func (b *Beside) Busy() bool { return len(b.Tasks) > 0 || b.Speaking }

// taskLine holds the fields of a line about a task: a command or a subagent.
type taskLine struct {
	TaskID      string `json:"task_id"`
	TaskStatus  string `json:"status"`
	Description string `json:"description"`
	Background  *bool  `json:"is_backgrounded"` // since 2.1.329
	Patch       struct {
		Ended int64 `json:"end_time"` // milliseconds since 1970
	} `json:"patch"`
}

// beside tracks what claude does beside the turns that it was asked for.
type beside struct {
	tasks    []task // that run
	lost     bool   // see Beside
	any      bool   // there was a task that may have been in the background
	notified bool   // claude was told that a task has ended, and has begun no turn since
	own      bool   // claude is in a turn that it began by itself
}

type task struct{ id, description string }

// line notes a line of output. A task in the foreground also has such lines, but it ends before its turn. Up to 2.1.197 a
// task that ends during a turn is only updated, and any other has a notification, right before the turn that it causes.
func (b *beside) line(l line) {
	ends := func(t task) bool { return t.id == l.TaskID }
	switch l.Type + " " + l.Subtype {
	case "system task_started":
		if l.Background == nil || *l.Background {
			b.tasks, b.any = append(b.tasks, task{l.TaskID, l.Description}), true
		}
	case "system task_updated":
		if l.Patch.Ended != 0 {
			b.tasks = slices.DeleteFunc(b.tasks, ends)
		}
	case "system task_notification":
		b.lost = b.lost || l.TaskStatus == "stopped" && !b.any
		b.tasks, b.notified = slices.DeleteFunc(b.tasks, ends), true
	case "system init":
		b.own, b.notified = b.notified, false
	default:
		switch l.Type {
		case "result":
			b.own = false
		case "command_lifecycle", "system": // they change nothing
		default:
			b.notified = false
		}
	}
}

// spoken returns the result of a turn that claude began by itself; nil for any other line. It is nil too for one in which
// claude only took note of something, without a word, at no cost, and without being refused a tool.
func (p *Process) spoken(l line) *Spoken {
	if l.Type != "result" || l.Origin.Kind == "" || l.OfMessage != "" {
		return nil
	}
	e := end{result: &l.result, subtype: l.Subtype, now: time.Now()}
	s := &Spoken{l.UUID, e.outcome()}
	if s.CostUSD = p.charge(&l.result); s.Answer == "" && s.Class == Answered && len(s.Denials) == 0 && (s.CostUSD == nil || *s.CostUSD == 0) {
		return nil
	}
	return s
}

// Beside returns what claude does beside its turns.
func (p *Process) Beside() Beside {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := Beside{Speaking: p.beside.own || p.beside.notified && p.turn == nil, Lost: p.beside.lost, Later: p.beside.any}
	for _, t := range p.beside.tasks {
		now.Tasks = append(now.Tasks, t.description)
	}
	return now
}
