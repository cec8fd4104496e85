package turn

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/uuid"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/claude"
	"nbs-worker/internal/claude/cmdline"
	"nbs-worker/internal/claude/transcript"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/sim/api"
	"nbs-worker/internal/sim/rig"
)

// stage is a world with an API, in which one version of claude is started.
type stage struct {
	t      *testing.T
	world  *rig.World
	api    *api.Server
	claude string
	env    []string
}

// eachVersion is a stage of the newest Claude Code, and in make test-all of the oldest.
func eachVersion(t *testing.T) *stage {
	t.Helper()
	t.Parallel()
	return newStage(t, rig.ClaudeBinary(t, rig.Version()), "CLAUDE_CODE_MAX_RETRIES=1")
}

func newStage(t *testing.T, program string, env ...string) *stage {
	t.Helper()
	server, err := api.Start(api.Options{})
	rig.Must(t, err)
	t.Cleanup(func() { _ = server.Close() })
	return &stage{t: t, world: rig.NewWorld(t, server.URL()), api: server, claude: program, env: env}
}

func (s *stage) start(spec Spec) *Process { return s.launch(spec, false) }

// launch starts a claude, for one turn or for many, that lives no longer than the test.
func (s *stage) launch(spec Spec, oneTurn bool) *Process {
	s.t.Helper()
	p, err := Start(Launch{Program: s.claude, Args: Args(spec), Dir: s.world.Project, Env: s.world.Env(s.env...), OneTurn: oneTurn})
	rig.Must(s.t, err)
	s.t.Cleanup(func() {
		_ = p.cmd.Process.Kill()
		<-p.Ended()
	})
	return p
}

func (s *stage) turn(p *Process, text string) (Outcome, []Event) {
	s.t.Helper()
	var events []Event
	o, err := p.Turn(rig.Patient(s.t), uuid.NewString(), text, func(e Event) {
		if e.Kind != Lived {
			events = append(events, e)
		}
	})
	if err != nil {
		s.t.Fatalf("%q: %v, %+v, stderr %q", text, err, o, p.stderr.String())
	}
	return o, events
}

func (s *stage) close(p *Process) {
	s.t.Helper()
	rig.Must(s.t, p.Close(rig.Patient(s.t)))
}

func newID() agent.SessionID { return agent.SessionID(uuid.NewString()) }

func TestTurns(t *testing.T) {
	s := eachVersion(t)
	id := newID()
	warm := s.start(Spec{SessionID: id, Opening: cmdline.OpenNew, Model: "sonnet", Partial: true})
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

	cold := s.start(Spec{SessionID: id, Opening: cmdline.OpenResume, Model: "sonnet"})
	o, _ = s.turn(cold, "What number?")
	rig.Check(t, o.Answer == "42" && o.SessionID == id && *o.CostUSD < 1.5**again.CostUSD, "resumed: %+v", o)
	// A claude that was killed may have written the text, and not yet the output of the hook.
	invocation := uuid.NewString()
	_, err := cold.Turn(rig.Patient(t), TextID(invocation, 4), "Without a hook.", nil)
	rig.Must(t, err)
	s.close(cold)
	file, _, err := s.config().Transcript(id)
	rig.Must(t, err)
	mark, err := Marked(file, invocation, 4)
	rig.Check(t, err == nil && mark.Answer == "You said: Without a hook.", "by the id of its text: %+v, %v", mark, err)

	copied := newID()
	fork := s.start(Spec{SessionID: copied, Fork: id, Model: "sonnet"})
	o, _ = s.turn(fork, "What number?")
	rig.Check(t, o.Answer == "42" && o.SessionID == copied, "a copy: %+v", o)
}

// Claude exits without waiting until its output is read. Here the reader is late, and the text, which claude repeats, is
// longer than a pipe holds.
func TestOneTurnIsReadToItsEndByALateReader(t *testing.T) {
	s := eachVersion(t)
	id := newID()
	p := s.launch(Spec{SessionID: id, Opening: cmdline.OpenNew, Model: "sonnet"}, true)
	ended, late := make(chan Outcome, 1), make(chan struct{})
	read := sync.OnceFunc(func() { close(late) })
	defer read()
	go func() {
		o, _ := p.Turn(t.Context(), TextID(invocationOf(1), 1), "Long. "+strings.Repeat("x", 300_000), func(e Event) {
			if e.Kind == Confirmed {
				<-late
			}
		})
		ended <- o
	}()
	rig.WaitFor(t, "the answer is in the transcript", func() (bool, string) { return s.marked(id, 1).Answered, p.stderr.String() })
	_, err := p.stdin.Write(nil)
	rig.Check(t, err == nil, "claude may exit already, though its answer was not read: %v", err)
	read()
	o := <-ended
	rig.Check(t, o.Class == Answered && strings.HasPrefix(o.Answer, "You said: Long. xxx"), "%s %.50q %s", o.Class, o.Answer, o.Detail)
	<-p.Ended() // by itself
	_, err = p.Turn(t.Context(), uuid.NewString(), "Another?", nil)
	rig.Equal(t, fail.KindOf(err), fail.Conflict, "a second turn")
}

// context makes a turn's context begin with its marker.
func (s *stage) context(n int) {
	s.t.Helper()
	file := filepath.Join(s.world.Root, "context")
	rig.Must(s.t, os.WriteFile(file, []byte(markOfTurn(n)+"\nIt is noon."), 0o600))
	s.env = append(s.env, ContextVariable+"="+file)
}

func (s *stage) config() claude.Config {
	s.t.Helper()
	config, err := claude.ConfigAt(s.world.ConfigDir)
	rig.Must(s.t, err)
	return config
}

func (s *stage) marked(id agent.SessionID, n int) Mark {
	s.t.Helper()
	file, _, err := s.config().Transcript(id)
	rig.Must(s.t, err)
	mark, err := Marked(file, invocationOf(n), n)
	rig.Must(s.t, err)
	return mark
}

// The way of a conversation through a kill in the middle of a turn: the text is there once, and is gone on with.
func TestKilledTurnIsGoneOnWith(t *testing.T) {
	s := eachVersion(t)
	identity := filepath.Join(s.world.Root, "identity")
	rig.Must(t, os.WriteFile(identity, []byte("You are Bubba. Be terse."), 0o600))
	spec := Spec{SessionID: newID(), Opening: cmdline.OpenNew, Model: "sonnet", SystemPromptFile: identity, Settings: Settings(claude.Closed{}, true)}
	s.context(1)
	rig.Same(t, "before", Mark{}, s.marked(spec.SessionID, 1))
	p := s.start(spec)
	ended := make(chan Outcome, 1)
	go func() {
		o, _ := p.Turn(t.Context(), uuid.NewString(), "Remember 42. [[delay 1h]]", nil)
		ended <- o
	}()
	rig.WaitFor(t, "the text is in the transcript", func() (bool, string) { return s.marked(spec.SessionID, 1).Found, p.stderr.String() })
	rig.Must(t, p.cmd.Process.Kill())
	o := <-ended
	rig.Check(t, o.Class == Killed && o.SessionID == spec.SessionID && o.Exit != "", "killed: %+v", o)
	rig.Same(t, "after the kill", Mark{Marked: transcript.Marked{Found: true}}, s.marked(spec.SessionID, 1))

	spec.Opening = cmdline.OpenResume
	s.context(2)
	p = s.start(spec)
	o, _ = s.turn(p, Continue)
	rig.Check(t, o.Answer == "OK.", "gone on with: %+v", o)
	s.close(p)
	rig.Same(t, "the first", Mark{Marked: transcript.Marked{Found: true}}, s.marked(spec.SessionID, 1))
	rig.Same(t, "the second", Mark{Marked: transcript.Marked{Found: true, Answered: true, Answer: "OK."}}, s.marked(spec.SessionID, 2))

	s.context(3)
	p = s.start(spec)
	o, _ = s.turn(p, "[[error 529 midstream]] /clear")
	rig.Equal(t, o.Class, Overloaded, "an error in the middle of an answer")
	o, _ = s.turn(p, "/clear")
	rig.Check(t, o.Answer == "You said: /clear" && o.SessionID == spec.SessionID, "no command: %+v", o)
	o, _ = s.turn(p, "What number?")
	rig.Check(t, o.Answer == "42.", "remembered: %+v", o)
	s.close(p)
	for _, r := range s.api.Requests() {
		rig.Check(t, r.Method != "POST" || strings.Contains(string(r.Body), "You are Bubba."), "a request without the system prompt: %s", r.Body)
	}
}

func TestWhoCannotOpenSaysSo(t *testing.T) {
	s := eachVersion(t)
	unknown := s.start(Spec{SessionID: newID(), Opening: cmdline.OpenResume})
	o, events := s.turn(unknown, "hello")
	rig.Check(t, o.Class == UnknownSession && o.SessionID == "" && slices.Equal(events, []Event{{Kind: Over}}), "unknown: %+v %+v", o, events)
	s.close(unknown)
	if _, err := unknown.Turn(t.Context(), uuid.NewString(), "again", nil); err != nil {
		t.Error("a turn of one that has ended:", err)
	}
	_, err := Start(Launch{Program: s.claude, Dir: filepath.Join(s.world.Root, "gone")})
	rig.Check(t, fail.KindOf(err) == fail.NotFound, "without its folder: %v", err)
	_, err = Start(Launch{Program: filepath.Join(s.world.Root, "gone"), Dir: s.world.Project})
	rig.Check(t, fail.KindOf(err) == fail.Unfit, "without a program: %v", err)
}

func TestTurnIsGivenUp(t *testing.T) {
	s := eachVersion(t)
	p := s.start(Spec{SessionID: newID(), Opening: cmdline.OpenNew, Model: "sonnet"})
	ctx, cancel := context.WithCancel(t.Context())
	slow := make(chan struct{})
	defer close(slow)
	o, err := p.Turn(ctx, uuid.NewString(), "[[delay 1h]]", func(e Event) {
		if e.Kind != Lived {
			cancel()
			<-slow
		}
	})
	rig.Check(t, errors.Is(err, context.Canceled) && o.Class == Interrupted && o.SessionID != "", "%+v, %v", o, err)
	_, err = p.Turn(t.Context(), uuid.NewString(), "next", nil)
	rig.Check(t, fail.KindOf(err) == fail.Conflict, "the next turn: %v", err)
}

// Where each answer carries another session id, the next turn resumes that one.
func TestChainOfSessions(t *testing.T) {
	s := newStage(t, rig.StandIn(t), "NBS_SIM_CLAUDE=new-ids")
	spec := Spec{SessionID: newID(), Opening: cmdline.OpenNew}
	for _, turn := range []struct{ text, answer string }{{"Remember 42.", "OK, I will remember 42."}, {"hello", "You said: hello"}, {"What number?", "42"}} {
		p := s.start(spec)
		o, events := s.turn(p, turn.text)
		s.close(p)
		rig.Equal(t, o.Answer, turn.answer, "answer")
		rig.Check(t, o.SessionID != "" && o.SessionID != spec.SessionID && events[0].SessionID == o.SessionID, "session %s after %s: %+v", o.SessionID, spec.SessionID, events)
		spec.SessionID, spec.Opening = o.SessionID, cmdline.OpenResume
	}
}

func TestDeathInATurn(t *testing.T) {
	for where, want := range map[string]Mark{
		"heard":    {},
		"asked":    {Marked: transcript.Marked{Found: true}},
		"answered": {Marked: transcript.Marked{Found: true, Answered: true, Answer: "OK, I will remember 42."}},
	} {
		t.Run(where, func(t *testing.T) {
			s := newStage(t, rig.StandIn(t), "NBS_SIM_CLAUDE=die-in-turn="+where)
			spec := Spec{SessionID: newID(), Opening: cmdline.OpenNew, Settings: Settings(claude.Closed{}, true)}
			s.context(1)
			o, _ := s.turn(s.start(spec), "Remember 42.")
			rig.Check(t, o.Class == Killed && o.SessionID == spec.SessionID && o.Exit == "signal: killed", "%+v", o)
			rig.Same(t, "mark", want, s.marked(spec.SessionID, 1))
		})
	}
}

// 2.1.197 forgets a system prompt that is not given at a resume, 2.1.329 one that is not given when the conversation is
// compacted, and keeps the first: given each time, it is the same at each request.
func TestSystemPromptStays(t *testing.T) {
	s := eachVersion(t)
	identity := filepath.Join(s.world.Root, "identity")
	rig.Must(t, os.WriteFile(identity, []byte("You are Bubba."), 0o600))
	spec := Spec{SessionID: newID(), Opening: cmdline.OpenNew, Model: "sonnet", SystemPromptFile: identity}
	p := s.start(spec)
	for range 2 { // 2.1.197 does not compact less
		o, _ := s.turn(p, "hello")
		rig.Check(t, o.Class == Answered, "%+v", o)
	}
	s.close(p)
	spec.Opening = cmdline.OpenResume
	compact := exec.Command(s.claude, "-p", "--resume", string(spec.SessionID), "--system-prompt-file", identity, "--", "/compact")
	compact.Dir, compact.Env = s.world.Project, s.world.Env(s.env...)
	out, err := compact.CombinedOutput()
	rig.Check(t, err == nil, "/compact: %v %s", err, out)
	p = s.start(spec)
	o, _ := s.turn(p, "afterwards")
	rig.Check(t, o.Answer == "You said: afterwards" && o.SessionID == spec.SessionID, "%+v", o)
	s.close(p)
	asked := 0
	for _, r := range s.api.Requests() {
		var body struct{ System json.RawMessage }
		if r.Method != "POST" || r.Side || json.Unmarshal(r.Body, &body) != nil {
			continue
		}
		asked++
		rig.Check(t, strings.Contains(string(body.System), "You are Bubba."), "request %d, system prompt %.2000s", asked, body.System)
	}
	rig.Check(t, asked >= 4, "%d requests: two turns, a compaction, and a turn", asked)
	compacted := s.api.Requests()[len(s.api.Requests())-1]
	rig.Check(t, strings.Contains(string(compacted.Body), "This session is being continued"), "it was not compacted: %.2000s", compacted.Body)
}
