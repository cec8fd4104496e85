package turn

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/claude"
	"nbs-worker/internal/sim/api"
	"nbs-worker/internal/sim/rig"
)

// versions are the real programs that the package is held to.
var versions = []string{"2.1.197", "2.1.329"}

// patience is for a machine with much else to do.
const patience = 2 * time.Minute

// stage is a world with an API, in which one version of claude is started.
type stage struct {
	t      *testing.T
	world  *rig.World
	api    *api.Server
	claude string
	env    []string
}

func onEach(t *testing.T, test func(*testing.T, *stage)) {
	for _, version := range versions {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			server, err := api.Start(api.Options{})
			rig.Must(t, err)
			t.Cleanup(func() { _ = server.Close() })
			test(t, &stage{t: t, world: rig.NewWorld(t, server.URL()), api: server, claude: rig.ClaudeBinary(t, version), env: []string{"CLAUDE_CODE_MAX_RETRIES=1"}})
		})
	}
}

func (s *stage) start(spec Spec) *Process {
	s.t.Helper()
	p, err := Start(Launch{Program: s.claude, Args: Args(spec), Dir: s.world.Project, Env: s.world.Env(s.env...)})
	rig.Must(s.t, err)
	s.t.Cleanup(func() {
		_ = p.cmd.Process.Kill()
		<-p.Ended()
	})
	return p
}

func (s *stage) turn(p *Process, text string) (Outcome, []Event) {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), patience)
	defer cancel()
	var events []Event
	o, err := p.Turn(ctx, text, func(e Event) { events = append(events, e) })
	if err != nil {
		s.t.Fatalf("%q: %v, %+v, stderr %q", text, err, o, p.stderr.String())
	}
	return o, events
}

func (s *stage) close(p *Process) {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), patience)
	defer cancel()
	rig.Must(s.t, p.Close(ctx))
}

func newID() agent.SessionID { return agent.SessionID(uuid.NewString()) }

func TestTurns(t *testing.T) {
	onEach(t, func(t *testing.T, s *stage) {
		id := newID()
		warm := s.start(Spec{SessionID: id, Opening: claude.OpenNew, Model: "sonnet", Partial: true})
		o, events := s.turn(warm, "Remember 42.")
		rig.Same(t, "first turn", "OK, I will remember 42.", o.Answer)
		rig.Equal(t, o.SessionID, id, "session")
		rig.Check(t, o.Class == Answered && o.Usage.Input > 0 && o.CostUSD != nil && *o.CostUSD > 0 && o.Exit == "", "outcome %+v", o)
		var said strings.Builder
		kinds := map[EventKind]int{}
		for _, e := range events {
			said.WriteString(e.Text)
			kinds[e.Kind]++
		}
		rig.Check(t, said.String() == o.Answer && kinds[Confirmed] == 1 && kinds[TakenUp] == 1 && events[0] == Event{Kind: Confirmed, SessionID: id}, "events %+v", events)
		again, _ := s.turn(warm, "What number?")
		rig.Same(t, "second turn", "42", again.Answer)
		rig.Check(t, *again.CostUSD > 0 && *again.CostUSD < 1.5**o.CostUSD, "a turn's own cost: %v after %v", *again.CostUSD, *o.CostUSD)
		s.close(warm)

		cold := s.start(Spec{SessionID: id, Opening: claude.OpenResume, Model: "sonnet"})
		o, _ = s.turn(cold, "What number?")
		rig.Check(t, o.Answer == "42" && o.SessionID == id && *o.CostUSD < 1.5**again.CostUSD, "resumed: %+v", o)
		s.close(cold)

		copied := newID()
		fork := s.start(Spec{SessionID: copied, Fork: id, Model: "sonnet"})
		o, _ = s.turn(fork, "What number?")
		rig.Check(t, o.Answer == "42" && o.SessionID == copied, "a copy: %+v", o)
	})
}
