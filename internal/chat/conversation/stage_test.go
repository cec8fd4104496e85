package conversation

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/claude/turn"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/platform/machine/local"
	"nbs-worker/internal/sim/rig"
	"nbs-worker/internal/store"
	"nbs-worker/internal/store/conversations"
	"nbs-worker/internal/store/storetest"
	"nbs-worker/internal/store/trust"
	"nbs-worker/internal/team/observe"
)

func TestMain(m *testing.M) { os.Exit(storetest.Main(m, func([]string) { rig.Stay() })) }

// stage is a project, and a claude that answers as a test wants.
type stage struct {
	*testing.T
	*Engine
	config string // Claude's configuration folder
	now    time.Time

	mu      sync.Mutex
	heard   []string                              // texts that a claude was given, in order
	starts  []turn.Launch                         // of its processes
	respond func(n int, text string) turn.Outcome // to the n-th text, from 1; nil: answers "re: TEXT"
	at      atomic.Int32                          // texts that are being answered
	closing chan struct{}                         // no claude exits before it is closed; nil: each does at once
	ids     atomic.Int32
	onClose func(*fake) // nil: nothing is done
}

func newStage(t *testing.T) *stage {
	t.Helper()
	project, home := storetest.MemoryProject(t), rig.MemoryDir(t)
	opened, err := store.Create(project)
	rig.Must(t, err)
	t.Cleanup(func() { rig.Must(t, opened.Close()) })
	opened.UseHome(trust.Home(home))
	opened.RunIn(filepath.Join(home, "run"))
	opened.Use(trust.NewKeeper(trust.Home(home)))
	s := &stage{T: t, config: t.TempDir(), now: storetest.SomeTime()}
	s.Engine = New(observe.Observer{Machine: local.New(), Store: opened, Env: []string{"NBS_CLAUDE=/bin/true", "CLAUDE_CODE_SANDBOXED=1", "PATH=" + os.Getenv("PATH")}, Now: func() time.Time { return s.now }})
	s.Start = s.startFake
	return s
}

// fake is a claude.
type fake struct {
	s       *stage
	id      agent.SessionID
	context string
	ended   chan struct{}
}

func (s *stage) startFake(l turn.Launch) (Process, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.starts = append(s.starts, l)
	f := &fake{s: s, context: agent.Variable(l.Env, turn.ContextVariable), ended: make(chan struct{})}
	for i, arg := range l.Args {
		if arg == "--session-id" || arg == "--resume" {
			f.id = agent.SessionID(l.Args[i+1])
		}
	}
	return f, nil
}

func (f *fake) PID() int               { return os.Getpid() }
func (f *fake) Ended() <-chan struct{} { return f.ended }
func (f *fake) Close(context.Context) error {
	if f.s.onClose != nil {
		f.s.onClose(f)
	}
	if f.s.closing != nil {
		<-f.s.closing
	}
	select {
	case <-f.ended:
	default:
		close(f.ended)
	}
	return nil
}

func (f *fake) Turn(ctx context.Context, textID, text string, _ func(turn.Event)) (turn.Outcome, error) {
	s := f.s
	if s.at.Add(1) > 1 {
		s.Error("two turns of one conversation at once")
	}
	defer s.at.Add(-1)
	s.mu.Lock()
	s.heard = append(s.heard, text)
	n := len(s.heard)
	respond := s.respond
	s.mu.Unlock()
	o := turn.Outcome{Answer: "re: " + text}
	if respond != nil {
		o = respond(n, text)
	}
	if o.Class == forever {
		<-ctx.Done()
		return turn.Outcome{Class: turn.Interrupted}, ctx.Err()
	}
	if o.Class == takesNone {
		return turn.Outcome{}, fail.Errorf(fail.Conflict, "it takes none")
	}
	f.id = cmp.Or(o.SessionID, f.id)
	switch o.Class {
	case turn.UnknownSession:
	case neverHeard:
		o.Class = turn.Killed
	case neverWrote:
		o.Class = turn.Failed
	case killedAnswering:
		o.Class = turn.Answered
		close(f.ended)
	case writesLate:
		o.Class = turn.Answered
		time.AfterFunc(20*time.Millisecond, func() { s.write(f, textID, text, &o) })
	default:
		s.write(f, textID, text, &o)
	}
	if o.SessionID == "" && o.Class != turn.UnknownSession {
		o.SessionID = f.id
	}
	return o, nil
}

// Classes of this fake's own.
const (
	forever         turn.Class = "forever"          // never answers
	neverHeard      turn.Class = "never heard"      // was killed before it wrote anything down
	neverWrote      turn.Class = "never wrote"      // failed before it wrote anything down
	killedAnswering turn.Class = "killed answering" // answers, and is killed before it wrote that down
	writesLate      turn.Class = "writes late"      // answers, and writes that down later
	takesNone       turn.Class = "takes none"
)

// usedTool is the answer of a turn that came as far as to use a tool.
const usedTool = "used a tool"

// write appends to a transcript what Claude does.
func (s *stage) write(f *fake, textID, text string, o *turn.Outcome) {
	s.Helper()
	path, id := s.transcript(f.id), f.id
	rig.Must(s.T, os.MkdirAll(filepath.Dir(path), 0o700))
	file, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	rig.Must(s.T, err)
	defer file.Close()
	n := len(s.heard)
	line := func(record string, args ...any) {
		_, err := fmt.Fprintf(file, record+"\n", args...)
		rig.Must(s.T, err)
	}
	line(`{"type":"user","uuid":%q,"parentUuid":%s,"sessionId":%q,"message":{"role":"user","content":%s}}`, textID, parent(n), id, strconv.Quote(text))
	if f.context != "" {
		content := strconv.Quote(storetest.Read(s.T, f.context))
		line(`{"type":"attachment","uuid":"c%d","parentUuid":%q,"sessionId":%q,"attachment":{"type":"hook_success","hookEvent":"UserPromptSubmit","content":%s,"stdout":%[4]s}}`, n, textID, id, content)
		textID = fmt.Sprintf("c%d", n)
	}
	if o.Answer == usedTool {
		line(`{"type":"assistant","uuid":"a%d","parentUuid":%q,"sessionId":%q,"message":{"role":"assistant","model":"claude-sonnet-5","stop_reason":"tool_use","content":[{"type":"tool_use","id":"t","name":"Bash","input":{}}]}}`, n, textID, id)
	}
	if o.Class == "" {
		line(`{"type":"assistant","uuid":"a%d","parentUuid":%q,"sessionId":%q,"message":{"role":"assistant","model":"claude-sonnet-5","stop_reason":"end_turn","content":[{"type":"text","text":%s}]}}`, n, textID, id, strconv.Quote(o.Answer))
	}
}

func parent(n int) string {
	if n == 1 {
		return "null"
	}
	return fmt.Sprintf(`"a%d"`, n-1)
}

func (s *stage) transcript(id agent.SessionID) string {
	return filepath.Join(s.config, "projects", "-p", string(id)+".jsonl")
}

func (s *stage) meta() conversations.Meta {
	return conversations.Meta{Cwd: s.Store.Project(), ConfigDir: s.config}
}

// ask takes one turn.
func (s *stage) ask(text string, change ...func(*conversations.Request)) (conversations.Result, error) {
	s.Helper()
	r := conversations.Request{ID: fmt.Sprintf("id %d", s.ids.Add(1)), Text: text, At: s.now}
	for _, c := range change {
		c(&r)
	}
	if _, _, err := s.Accept(s.Context(), "review", Say{Request: r, Meta: s.meta()}); err != nil {
		return conversations.Result{}, err
	}
	return s.Await(s.Context(), "review", r.ID)
}

func (s *stage) mustAsk(text string, change ...func(*conversations.Request)) conversations.Result {
	s.Helper()
	r, err := s.ask(text, change...)
	rig.Must(s.T, err)
	return r
}

func (s *stage) state() conversations.State {
	s.Helper()
	state, err := s.Store.Conversations().Of("review").State()
	rig.Must(s.T, err)
	return state
}

// answer responds with these outcomes, one after the other, and then with answers.
func (s *stage) answer(all ...turn.Outcome) {
	s.mu.Lock()
	defer s.mu.Unlock()
	before := len(s.heard)
	s.respond = func(n int, text string) turn.Outcome {
		if i := n - before - 1; i < len(all) {
			return all[i]
		}
		return turn.Outcome{Answer: "re: " + text}
	}
}

func failing(class turn.Class) turn.Outcome {
	return turn.Outcome{Class: class, Detail: "it is " + string(class)}
}
