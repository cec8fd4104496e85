package conversation

import (
	"fmt"
	"os"
	"sync/atomic"
	"testing"
	"time"

	"nbs-worker/internal/platform/machine/local"
	"nbs-worker/internal/sim/rig"
	"nbs-worker/internal/store/conversations"
	"nbs-worker/internal/store/storetest"
	"nbs-worker/internal/team/headless/headlesstest"
	"nbs-worker/internal/team/observe"
)

func TestMain(m *testing.M) { os.Exit(storetest.Main(m, func([]string) { rig.Stay() })) }

// stage is a project, and claudes that answer as a test wants.
type stage struct {
	*testing.T
	*Engine
	*headlesstest.Claudes
	now time.Time
	ids atomic.Int32
}

func newStage(t *testing.T) *stage {
	t.Helper()
	project, home := storetest.MemoryProject(t), rig.MemoryDir(t)
	opened, err := headlesstest.Project(project, home)
	rig.Must(t, err)
	t.Cleanup(func() { rig.Must(t, opened.Close()) })
	s := &stage{T: t, Claudes: &headlesstest.Claudes{TB: t, Config: t.TempDir()}, now: storetest.SomeTime()}
	s.Engine = New(&observe.Project{Machine: local.New(), Store: opened, Env: []string{"NBS_CLAUDE=/bin/true", "CLAUDE_CODE_SANDBOXED=1", "PATH=" + os.Getenv("PATH")}, Now: func() time.Time { return s.now }})
	s.Engine.Start = s.Claudes.Start
	return s
}

func (s *stage) meta() conversations.Meta {
	return conversations.Meta{Cwd: s.Project.Store.Project(), ConfigDir: s.Config}
}

// ask takes one turn.
func (s *stage) ask(text string, change ...func(*conversations.Request)) (conversations.Result, error) {
	s.Helper()
	return s.askIn("review", text, change...)
}

func (s *stage) askIn(key conversations.Key, text string, change ...func(*conversations.Request)) (conversations.Result, error) {
	s.Helper()
	r := conversations.Request{ID: fmt.Sprintf("id %d", s.ids.Add(1)), Text: text, At: s.now}
	for _, c := range change {
		c(&r)
	}
	if _, _, err := s.Accept(s.Context(), key, Say{Request: r, Meta: s.meta()}); err != nil {
		return conversations.Result{}, err
	}
	return s.Await(s.Context(), key, r.ID)
}

func (s *stage) mustAsk(text string, change ...func(*conversations.Request)) conversations.Result {
	s.Helper()
	r, err := s.ask(text, change...)
	rig.Must(s.T, err)
	return r
}

func (s *stage) state() conversations.State {
	s.Helper()
	state, err := s.Project.Store.Conversations().Of("review").State()
	rig.Must(s.T, err)
	return state
}
