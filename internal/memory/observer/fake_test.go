package observer

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
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
	"nbs-worker/internal/team/headless/headlesstest"
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
	*headlesstest.Claudes
	kept  *kept
	now   time.Time
	lines map[agent.SessionID]int
}

func newStage(t *testing.T) *stage {
	t.Helper()
	project, home := storetest.MemoryProject(t), rig.MemoryDir(t)
	opened, err := headlesstest.Project(project, home)
	rig.Must(t, err)
	t.Cleanup(func() { rig.Must(t, opened.Close()) })
	s := &stage{T: t, Claudes: &headlesstest.Claudes{TB: t, Config: t.TempDir()}, kept: newKept(), now: storetest.SomeTime(), lines: map[agent.SessionID]int{}}
	s.Respond = func(n int, _ string) turn.Outcome { return noted("noted " + strconv.Itoa(n)) }
	env := []string{"NBS_CLAUDE=/bin/true", "PATH=" + os.Getenv("PATH"), "NBS_HANDLE=outer", "HOME=" + home}
	s.Worker = New(&observe.Project{Machine: local.New(), Store: opened, Env: env, Now: func() time.Time { return s.now }}, s.kept)
	s.Worker.Start = s.Claudes.Start
	return s
}

// agent spawns one, whose memory is on.
func (s *stage) agent(handle agent.Handle, change ...func(*agent.Record)) agent.Record {
	s.Helper()
	r := agent.Record{
		Spec:        agent.Spec{Schema: agent.Schema, Handle: handle, SessionID: agent.NewSessionID(), ProjectRoot: s.Worker.Project.Store.Project(), ConfigDir: s.Config, Memory: true},
		TmuxSession: "nbs-" + string(handle) + "-live",
	}
	for _, c := range change {
		c(&r)
	}
	unlock, err := s.Worker.Project.Store.LockVerb(handle, "spawn", s.now)
	rig.Must(s.T, err)
	defer unlock()
	rig.Must(s.T, s.Worker.Project.Store.Insert(s.Context(), r))
	return r
}

// write appends a record to the transcript of a conversation.
func (s *stage) write(id agent.SessionID, form string, args ...any) {
	s.Helper()
	path := s.Transcript(id)
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
	if info, err := os.Stat(s.Transcript(id)); err == nil {
		a.Size = info.Size()
	}
	rig.Must(s.T, s.Worker.Project.Store.Spool().Put(a))
}

func (s *stage) once() Report {
	s.Helper()
	done, err := s.Once(s.Context())
	rig.Must(s.T, err)
	return done
}

func (s *stage) announced() int {
	s.Helper()
	all, err := s.Worker.Project.Store.Spool().List()
	rig.Must(s.T, err)
	return len(all)
}

// opened is how each claude was opened.
func (s *stage) opened() string {
	var all []string
	for _, l := range s.Launches() {
		how, _ := headlesstest.Opened(l)
		all = append(all, how)
	}
	return strings.Join(all, " ")
}

// noted is an answer with one observation.
func noted(title string) turn.Outcome {
	return turn.Outcome{Answer: fmt.Sprintf(`{"observations":[{"type":"decision","title":%q}]}`, title), Usage: turn.Usage{Input: 100, Output: 10}}
}
