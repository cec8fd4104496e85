// Package requests keeps what agents ask a person for: each request is open for as long as a hook of the agent's claude
// waits for an answer.
//
//   - The files are in the user's runtime folder: nothing in a project answers, and nothing is left after a reboot.
//   - The hook holds a lock on its request. A request whose lock is free is gone, however its hook has ended.
//   - The first answer counts: a second one is refused, and told whose the first was.
//   - An answer counts as taken once the hook has handed it to claude.
package requests

import (
	"cmp"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
	"nbs-worker/internal/store/private"
)

// Drawer holds the requests of one project.
type Drawer struct{ tree private.Tree }

// In returns the requests in a folder.
func In(tree private.Tree) *Drawer { return &Drawer{tree} }

// Folder returns the folder, in which files change with each request and answer.
func (d *Drawer) Folder() string { return string(d.tree) }

// Request is what an agent asks for. Its texts come from claude and are not harmless.
type Request struct {
	ID         string           `json:"id"` // eight letters and digits
	Handle     agent.Handle     `json:"handle"`
	Invocation agent.Invocation `json:"invocation"`
	SessionID  agent.SessionID  `json:"session_id"`
	Claude     agent.Identity   `json:"claude"` // the process that asks
	At         time.Time        `json:"at"`
	Mode       string           `json:"permission_mode"` // of claude at that time
	Tool       string           `json:"tool"`
	Input      json.RawMessage  `json:"input"`                 // of the tool, whole
	Suggested  json.RawMessage  `json:"suggestions,omitempty"` // what Claude itself would allow for ever
}

// Answer is what a person says to a request.
type Answer struct {
	Allow   bool            `json:"allow"`
	Message string          `json:"message,omitempty"` // for the model, of a refusal
	Input   json.RawMessage `json:"input,omitempty"`   // in place of the request's: the answers of a question
	Rules   json.RawMessage `json:"rules,omitempty"`   // of the suggestions: what is allowed for ever
	By      string          `json:"by"`                // who answered: "ann", "telegram:7", "agent lead"
	At      time.Time       `json:"at"`
}

// The files of a request, by their ends.
const (
	lockEnd    = ".lock" // held by the hook
	requestEnd = ".request"
	answerEnd  = ".answer"
	takenEnd   = ".taken" // the answer, once claude has it
	overEnd    = ".over"  // claude goes on without an answer of ours
)

const limit = 4 << 20 // bytes of a file

var validID = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[0-9a-z]{8}$`) })

// List returns the open requests, the oldest first.
func (d *Drawer) List() ([]Request, error) {
	names, err := d.tree.Names()
	if err != nil {
		return nil, err
	}
	var open []Request
	for _, name := range names {
		id, is := strings.CutSuffix(name, requestEnd)
		if !is || !validID().MatchString(id) {
			continue
		}
		if r, err := d.load(id); err == nil && d.isHeld(id) {
			open = append(open, r)
		}
	}
	slices.SortFunc(open, func(a, b Request) int { return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.ID, b.ID)) })
	return open, nil
}

func (d *Drawer) load(id string) (r Request, err error) {
	text, err := d.tree.Read(id+requestEnd, limit)
	if err == nil {
		err = json.Unmarshal(text, &r)
	}
	if err == nil {
		_, err = agent.ParseHandle(string(r.Handle))
	}
	if err == nil && r.ID != id {
		err = fs.ErrNotExist
	}
	return r, err
}

// isHeld reports whether a hook waits. What a hook that has ended has left is removed, but for its answer: that refuses
// a second answerer who has found the request open a moment ago. For a request that is gone it makes no file: those who
// watch the folder would look again and again.
func (d *Drawer) isHeld(id string) bool {
	if _, err := d.tree.Stat(id + lockEnd); err == nil {
		lock, err := d.tree.TryLock(id + lockEnd)
		if err != nil || lock == nil {
			return lock == nil && err == nil
		}
		defer lock.Close()
	}
	_ = d.tree.Remove(id+requestEnd, id+overEnd, id+lockEnd)
	return false
}

// Fate is what has become of a request.
type Fate int

// The fates.
const (
	Gone     Fate = iota // its hook has ended and has not noted that it took an answer
	Open                 // it waits for an answer
	Answered             // an answer is there, and claude does not have it yet
	Taken                // claude has the answer
)

// FateOf returns what has become of a request, and its answer if there is one.
func (d *Drawer) FateOf(id string) (Fate, Answer) {
	if !validID().MatchString(id) {
		return Gone, Answer{}
	}
	isOpen := d.isHeld(id) // before the rest: the hook notes what it has taken before it ends
	if a, err := d.answer(id + takenEnd); err == nil {
		return Taken, a
	}
	a, err := d.answer(id + answerEnd)
	switch {
	case !isOpen:
		return Gone, a
	case err == nil:
		return Answered, a
	default:
		return Open, a
	}
}

func (d *Drawer) answer(name string) (a Answer, err error) {
	text, err := d.tree.Read(name, limit)
	if err == nil {
		err = json.Unmarshal(text, &a)
	}
	return a, err
}

// Give answers an open request. Errors: NotFound if it is gone; Conflict if it is answered.
func (d *Drawer) Give(id string, a Answer) error {
	switch fate, earlier := d.FateOf(id); fate {
	case Gone:
		return fail.Errorf(fail.NotFound, "the request %s is over", human.Quote(id))
	case Answered, Taken:
		return answered(id, earlier)
	case Open:
	}
	return d.put(id, a)
}

// put writes the answer to a request that was open a moment ago.
func (d *Drawer) put(id string, a Answer) error {
	text, err := json.Marshal(a)
	if err != nil {
		return err
	}
	draft := id + "." + string(agent.NewInvocation()) + ".draft"
	err = d.tree.In(func(dir *os.Root, _ *os.File) error {
		if err := dir.WriteFile(draft, text, 0o600); err != nil {
			return err
		}
		defer func() { _ = dir.Remove(draft) }() // a draft that is left is swept
		return dir.Link(draft, id+answerEnd)     // only the first succeeds
	})
	if errors.Is(err, fs.ErrExist) {
		_, earlier := d.FateOf(id)
		return answered(id, earlier)
	}
	return d.tree.Remedied(err)
}

func answered(id string, a Answer) error {
	return fail.Errorf(fail.Conflict, "the request %s is answered already, by %s", human.Quote(id), human.Legible(cmp.Or(a.By, "another")))
}

// Sweep removes what killed processes have left, and old receipts.
func (d *Drawer) Sweep(now time.Time) {
	const kept = 24 * time.Hour
	d.tree.Sweep(now, func(name string, age time.Duration) bool {
		return age > kept && slices.Contains([]string{takenEnd, answerEnd, ".draft"}, filepath.Ext(name))
	})
}
