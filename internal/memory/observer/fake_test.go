package observer

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/claude/turn"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/memory"
	"nbs-worker/internal/platform/machine/local"
	"nbs-worker/internal/sim/rig"
	"nbs-worker/internal/store/spool"
	"nbs-worker/internal/store/storetest"
	"nbs-worker/internal/team/observe"
)

func TestMain(m *testing.M) {
	if role := rig.Role(); role != nil {
		playRole(role)
		return
	}
	os.Exit(rig.Main(m, 10*time.Minute))
}

// others are what observers do not use of a memory.
type others = memory.Store

// kept is a memory in memory, as far as observers use it.
type kept struct {
	others

	observed map[agent.SessionID]*memory.Observed
	stored   []memory.Observation
	trouble  map[agent.SessionID]string
	spent    map[string]int
	replaced bool
}

func newKept() *kept {
	return &kept{observed: map[agent.SessionID]*memory.Observed{}, trouble: map[agent.SessionID]string{}, spent: map[string]int{}}
}

func (k *kept) Create(_ context.Context, o memory.Observed) error {
	if k.observed[o.ContentID] == nil {
		k.observed[o.ContentID] = &memory.Observed{ContentID: o.ContentID, Handle: o.Handle, FirstPrompt: o.FirstPrompt}
	}
	return nil
}

func (k *kept) Observed(_ context.Context, id agent.SessionID) (memory.Observed, error) {
	if o := k.observed[id]; o != nil {
		return *o, nil
	}
	return memory.Observed{}, fail.Errorf(fail.NotFound, "it is not observed")
}

func (k *kept) Capture(_ context.Context, id, memoryID agent.SessionID) error {
	k.observed[id].MemoryID = memoryID
	return nil
}

func (k *kept) Store(_ context.Context, id agent.SessionID, _ int, all []memory.Observation, readTo string) (int, error) {
	o := k.observed[id]
	for _, one := range all {
		if !o.Captured() || one.MemoryID != o.MemoryID {
			return 0, fail.Errorf(fail.Conflict, "no observer is captured")
		}
	}
	k.stored = append(k.stored, all...)
	o.ReadTo = readTo
	delete(k.trouble, id)
	return len(all), nil
}

func (k *kept) Advance(_ context.Context, id agent.SessionID, readTo string) error {
	k.observed[id].ReadTo = readTo
	return nil
}

func (k *kept) Trouble(_ context.Context, id agent.SessionID, why string) error {
	k.trouble[id] = why
	return nil
}

func (k *kept) Spend(_ context.Context, on string, tokens int) (int, error) {
	if k.replaced {
		return 0, memory.ErrReplaced
	}
	k.spent[on] += tokens
	return k.spent[on], nil
}

func (k *kept) titles() string {
	var all []string
	for _, o := range k.stored {
		all = append(all, fmt.Sprintf("%s/%d/%s", o.Handle, o.Turn, o.Title))
	}
	return strings.Join(all, " ")
}

// stage is a project with agents that are remembered, and observers that answer as a test wants.
type stage struct {
	*testing.T
	*Worker
	kept   *kept
	config string
	now    time.Time
	lines  map[agent.SessionID]int

	starts  []turn.Launch
	said    []string
	strays  agent.SessionID                       // in which observers are, whatever they were started in; "": none does
	respond func(n int, text string) turn.Outcome // to the n-th text, from 1; nil: one observation
}

func newStage(t *testing.T) *stage {
	t.Helper()
	project, home := storetest.MemoryProject(t), rig.MemoryDir(t)
	opened, err := own(project, home)
	rig.Must(t, err)
	t.Cleanup(func() { rig.Must(t, opened.Close()) })
	s := &stage{T: t, kept: newKept(), config: t.TempDir(), now: storetest.SomeTime(), lines: map[agent.SessionID]int{}}
	env := []string{"NBS_CLAUDE=/bin/true", "PATH=" + os.Getenv("PATH"), "NBS_HANDLE=outer", "HOME=" + home}
	s.Worker = New(observe.Observer{Machine: local.New(), Store: opened, Env: env, Now: func() time.Time { return s.now }}, s.kept)
	s.Start = s.startFake
	return s
}

// agent spawns one, whose memory is on.
func (s *stage) agent(handle agent.Handle, change ...func(*agent.Record)) agent.Record {
	s.Helper()
	r := agent.Record{
		Spec:        agent.Spec{Schema: agent.Schema, Handle: handle, SessionID: agent.NewSessionID(), ProjectRoot: s.Worker.Store.Project(), ConfigDir: s.config, Memory: true},
		TmuxSession: "nbs-" + string(handle) + "-live",
	}
	for _, c := range change {
		c(&r)
	}
	unlock, err := s.Worker.Store.LockVerb(handle, "spawn", s.now)
	rig.Must(s.T, err)
	defer unlock()
	rig.Must(s.T, s.Worker.Store.Insert(s.Context(), r))
	return r
}

// write appends a record to the transcript of a conversation.
func (s *stage) write(id agent.SessionID, form string, args ...any) {
	s.Helper()
	path := s.transcript(id)
	rig.Must(s.T, os.MkdirAll(filepath.Dir(path), 0o700))
	f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	rig.Must(s.T, err)
	defer f.Close()
	s.lines[id]++
	s.now = s.now.Add(time.Second)
	_, err = fmt.Fprintf(f, `{"uuid":"%s-%d","timestamp":%q,"sessionId":%q,%s}`+"\n",
		id, s.lines[id], s.now.Format(time.RFC3339), id, fmt.Sprintf(form, args...))
	rig.Must(s.T, err)
}

func (s *stage) transcript(id agent.SessionID) string {
	return filepath.Join(s.config, "projects", "-p", string(id)+".jsonl")
}

func (s *stage) prompt(id agent.SessionID, text string) {
	s.Helper()
	s.write(id, `"type":"user","message":{"role":"user","content":%s}`, strconv.Quote(text))
}

func (s *stage) reply(id agent.SessionID, text string) {
	s.Helper()
	s.write(id, `"type":"assistant","message":{"model":"m","stop_reason":"end_turn","content":[{"type":"text","text":%s}]}`, strconv.Quote(text))
}

// turn is a turn of an agent, and its hook's announcement.
func (s *stage) turn(handle agent.Handle, id agent.SessionID, text string) {
	s.Helper()
	s.prompt(id, text)
	s.reply(id, "done: "+text)
	s.announce(handle, id)
}

func (s *stage) announce(handle agent.Handle, id agent.SessionID) {
	s.Helper()
	a := spool.Announcement{Handle: handle, SessionID: id, At: s.now}
	if info, err := os.Stat(s.transcript(id)); err == nil {
		a.Size = info.Size()
	}
	rig.Must(s.T, s.Worker.Store.Spool().Put(a))
}

func (s *stage) once() Report {
	s.Helper()
	done, err := s.Once(s.Context())
	rig.Must(s.T, err)
	return done
}

func (s *stage) announced() int {
	s.Helper()
	all, err := s.Worker.Store.Spool().List()
	rig.Must(s.T, err)
	return len(all)
}

// opened is how each claude was opened.
func (s *stage) opened() string {
	var all []string
	for _, l := range s.starts {
		i := slices.IndexFunc(l.Args, func(arg string) bool { return arg == "--session-id" || arg == "--resume" })
		all = append(all, l.Args[i])
	}
	return strings.Join(all, " ")
}

// fake is a claude that observes.
type fake struct {
	s  *stage
	id agent.SessionID
}

func (s *stage) startFake(l turn.Launch) (Process, error) {
	s.starts = append(s.starts, l)
	i := slices.IndexFunc(l.Args, func(arg string) bool { return arg == "--session-id" || arg == "--resume" })
	return &fake{s, agent.SessionID(l.Args[i+1])}, nil
}

func (f *fake) Close(context.Context) error { return nil }

func (f *fake) Turn(ctx context.Context, _, text string, heard func(turn.Event)) (turn.Outcome, error) {
	s := f.s
	s.said = append(s.said, text)
	o := noted("noted " + strconv.Itoa(len(s.said)))
	if s.respond != nil {
		o = s.respond(len(s.said), text)
	}
	if o.Class == turn.UnknownSession {
		return o, nil
	}
	heard(turn.Event{Kind: turn.Confirmed, SessionID: cmp.Or(s.strays, f.id)})
	s.prompt(f.id, "shown") // its own transcript, so that it can be resumed
	s.reply(f.id, o.Answer)
	o.SessionID = f.id
	return o, ctx.Err()
}

// noted is an answer with one observation.
func noted(title string) turn.Outcome {
	return turn.Outcome{Answer: fmt.Sprintf(`{"observations":[{"type":"decision","title":%q}]}`, title), Usage: turn.Usage{Input: 100, Output: 10}}
}
