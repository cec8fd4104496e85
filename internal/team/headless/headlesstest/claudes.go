// Package headlesstest has headless claudes for tests: they answer as a test wants, and write transcripts. The product
// must not import it.
package headlesstest

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/claude/turn"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/store"
	"nbs-worker/internal/store/trust"
	"nbs-worker/internal/team/headless"
)

// Classes of outcomes that only these claudes have.
const (
	Waits           turn.Class = "waits"            // answers when Claudes.Go is closed; nil: never
	NeverHeard      turn.Class = "never heard"      // is killed before it has written anything
	NeverWrote      turn.Class = "never wrote"      // fails before it has written anything
	KilledAnswering turn.Class = "killed answering" // answers, and is killed before it has written that
	WritesLate      turn.Class = "writes late"      // answers, and writes that later
	SaysNothing     turn.Class = "says nothing"     // writes its answer, and says that it is empty
	TakesNone       turn.Class = "takes none"       // refuses the turn
)

// Answers of turns in which something happens first.
const (
	UsedTool     = "used a tool" // and has only done that
	RefusedFirst = "at last"     // the API has refused claude, with status 401
)

// Claudes are the claudes of a test.
type Claudes struct {
	TB      testing.TB
	Config  string                                // Claude's configuration folder
	Respond func(n int, text string) turn.Outcome // to the n-th text, from 1; nil: answers "re: TEXT"
	OnClose func(*Claude)                         // nil: nothing is done
	Go      chan struct{}                         // closed when those that wait may answer
	Stray   agent.SessionID                       // the session that they name, whichever they were started in; "": their own

	mu       sync.Mutex
	texts    []string
	ran      []string
	images   []turn.Image
	contexts []string
	launches []turn.Launch
	alive    map[*Claude]bool
	latest   *Claude
	busy     map[agent.SessionID]bool
	last     map[agent.SessionID]string // UUID of the last record
}

// Claude is one of them.
type Claude struct {
	Context string // the file that its hook prints

	of    *Claudes
	how   string // it opens its session
	id    agent.SessionID
	ended chan struct{}

	once   bool // for one turn
	spoke  func(turn.Spoken)
	beside turn.Beside
}

// Start starts one.
func (c *Claudes) Start(l turn.Launch) (headless.Process, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.launches = append(c.launches, l)
	how, id := Opened(l)
	one := &Claude{of: c, how: how, id: agent.SessionID(id), Context: agent.Variable(l.Env, turn.ContextVariable), ended: make(chan struct{}), once: l.OneTurn, spoke: l.Spoke}
	c.latest = one
	if c.alive == nil {
		c.alive, c.busy, c.last = map[*Claude]bool{}, map[agent.SessionID]bool{}, map[agent.SessionID]string{}
	}
	c.alive[one] = true
	return one, nil
}

// Opened returns how a claude was to open its session, and which.
func Opened(l turn.Launch) (how, id string) {
	i := slices.IndexFunc(l.Args, func(arg string) bool { return arg == "--session-id" || arg == "--resume" })
	return l.Args[i], l.Args[i+1]
}

// Launches are those of all claudes, in order.
func (c *Claudes) Launches() []turn.Launch {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.launches)
}

// Alive returns how many run.
func (c *Claudes) Alive() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.alive)
}

// End ends all of them, unasked.
func (c *Claudes) End() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for one := range c.alive {
		delete(c.alive, one)
		close(one.ended)
	}
}

// Texts are the texts that they were given, in order.
func (c *Claudes) Texts() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.texts)
}

// Answer makes them respond with these outcomes, one after the other, and then with answers.
func (c *Claudes) Answer(all ...turn.Outcome) {
	c.mu.Lock()
	defer c.mu.Unlock()
	before := len(c.texts)
	c.Respond = func(n int, text string) turn.Outcome {
		if i := n - before - 1; i < len(all) {
			return all[i]
		}
		return turn.Outcome{Answer: "re: " + text}
	}
}

// Failing is an outcome of a class.
func Failing(class turn.Class) turn.Outcome {
	return turn.Outcome{Class: class, Detail: "it is " + string(class)}
}

// Project opens a project as its user, whose home is another folder.
func Project(project, home string) (*store.Store, error) {
	opened, err := store.Create(project)
	if err != nil {
		return nil, err
	}
	opened.UseHome(trust.Home(home))
	opened.RunIn(filepath.Join(home, "run"))
	opened.Use(trust.NewKeeper(trust.Home(home)))
	return opened, nil
}

// PID is that of the test.
func (*Claude) PID() int { return os.Getpid() }

// Ended is closed by Close.
func (c *Claude) Ended() <-chan struct{} { return c.ended }

// Beside is what the test has set with [Claude.Work].
func (c *Claude) Beside() turn.Beside {
	c.of.mu.Lock()
	defer c.of.mu.Unlock()
	return c.beside
}

// Work makes it have these background tasks. Without any, one for one turn ends.
func (c *Claude) Work(tasks ...string) {
	c.of.mu.Lock()
	c.beside = turn.Beside{Tasks: tasks, Later: true}
	c.of.mu.Unlock()
	if len(tasks) == 0 && c.once {
		c.end()
	}
}

// Lost makes it say that a background task of an earlier one was ended.
func (c *Claude) Lost() {
	c.of.mu.Lock()
	defer c.of.mu.Unlock()
	c.beside.Lost = true
}

// Says makes it say something by itself.
func (c *Claude) Says(id, text string) {
	c.spoke(turn.Spoken{ID: id, Outcome: turn.Outcome{Answer: text, CostUSD: new(0.5)}})
}

// Refuses makes it say something by itself, after it was refused a tool.
func (c *Claude) Refuses(id, text, tool string) {
	c.spoke(turn.Spoken{ID: id, Outcome: turn.Outcome{Answer: text, Denials: []turn.Denial{{Tool: tool, Input: "FILE"}}}})
}

// Writes makes it write what it says by itself into its transcript, as it does even if nobody hears it.
func (c *Claude) Writes(id, text string) {
	c.of.mu.Lock()
	defer c.of.mu.Unlock()
	const form = `{"uuid":"told-%[1]s","parentUuid":%[2]q,"sessionId":%[3]q,"type":"user","origin":{"kind":"task-notification"},"message":{"role":"user","content":"<task-notification>"}}
{"uuid":"said-%[1]s","parentUuid":"told-%[1]s","sessionId":%[3]q,"type":"assistant","message":{"role":"assistant","model":"claude-sonnet-5","stop_reason":"end_turn","content":[{"type":"text","text":%[4]q}]}}
`
	c.append(fmt.Sprintf(form, id, c.of.last[c.id], c.id, text))
	c.of.last[c.id] = "said-" + id
}

// Last returns the one that was started last.
func (c *Claudes) Last() *Claude {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.latest
}

// Close ends it at once.
func (c *Claude) Close(context.Context) error {
	if c.of.OnClose != nil {
		c.of.OnClose(c)
	}
	c.end()
	return nil
}

func (c *Claude) end() {
	c.of.mu.Lock()
	defer c.of.mu.Unlock()
	if c.of.alive[c] {
		delete(c.of.alive, c)
		close(c.ended)
	}
}

// Got returns the pictures and the contexts of all turns, in order.
func (c *Claudes) Got() ([]turn.Image, []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.images), slices.Clone(c.contexts)
}

func (c *Claude) get(images []turn.Image) {
	c.of.mu.Lock()
	defer c.of.mu.Unlock()
	context, _ := os.ReadFile(c.Context) // without one, it gets none
	c.of.images, c.of.contexts = append(c.of.images, images...), append(c.of.contexts, string(context))
}

// Ran are the commands that they were given, in order.
func (c *Claudes) Ran() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.ran)
}

// Command responds to a command as to a text.
func (c *Claude) Command(ctx context.Context, id, command string, heard func(turn.Event)) (turn.Outcome, error) {
	c.of.mu.Lock()
	c.of.ran = append(c.of.ran, command)
	c.of.mu.Unlock()
	return c.Turn(ctx, id, command, heard)
}

// Turn responds to a text.
func (c *Claude) Turn(ctx context.Context, textID, text string, heard func(turn.Event), images ...turn.Image) (turn.Outcome, error) {
	if _, err := os.Stat(c.of.Transcript(c.id)); c.how == "--resume" && err != nil {
		return turn.Outcome{Class: turn.UnknownSession, Detail: "No conversation found"}, nil
	}
	c.get(images)
	o, leave := c.of.hear(c.id, text)
	defer leave()
	switch o.Class {
	case Waits:
		if o.Answer == UsedTool {
			heard(turn.Event{Kind: turn.ToolBegan, Tool: "Bash", ToolID: "t"})
			heard(turn.Event{Kind: turn.ToolEnded, ToolID: "t"})
		}
		if o.Answer == RefusedFirst {
			heard(turn.Event{Kind: turn.Refused, Status: 401})
		}
		select {
		case <-ctx.Done():
			return turn.Outcome{Class: turn.Interrupted}, ctx.Err()
		case <-c.of.Go:
			o.Class = turn.Answered
		}
	case TakesNone:
		return turn.Outcome{}, fail.Errorf(fail.Conflict, "it takes none")
	case turn.UnknownSession:
		return o, nil
	default:
	}
	c.id = cmp.Or(o.SessionID, c.id)
	o.SessionID = c.id
	heard(turn.Event{Kind: turn.Confirmed, SessionID: cmp.Or(c.of.Stray, c.id)})
	for _, word := range strings.SplitAfter(o.Answer, " ") {
		heard(turn.Event{Kind: turn.Partial, Text: word})
	}
	write := func() { c.write(textID, text, &o) }
	switch o.Class {
	case NeverHeard:
		o.Class = turn.Killed
	case NeverWrote:
		o.Class = turn.Failed
	case KilledAnswering:
		o.Class = turn.Answered
		c.end()
	case SaysNothing:
		o.Class = turn.Answered
		if o.Answer == UsedTool {
			o.Class = turn.Interrupted // for what is written: it did not answer
		}
		write()
		o.Class, o.Answer = turn.Answered, ""
	case WritesLate:
		o.Class = turn.Answered
		time.AfterFunc(20*time.Millisecond, write)
	default:
		write()
	}
	return o, ctx.Err()
}

// hear notes a text, and returns the response. A session takes one turn at a time.
func (c *Claudes) hear(id agent.SessionID, text string) (o turn.Outcome, leave func()) {
	c.mu.Lock()
	if c.busy[id] {
		c.TB.Error("two turns of one conversation at once")
	}
	c.busy[id] = true
	c.texts = append(c.texts, text)
	n, respond := len(c.texts), c.Respond
	c.mu.Unlock()
	leave = func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.busy, id)
	}
	if respond == nil {
		return turn.Outcome{Answer: "re: " + text}, leave
	}
	return respond(n, text), leave
}

func (c *Claudes) must(err error) {
	if err != nil {
		c.TB.Error(err)
	}
}
