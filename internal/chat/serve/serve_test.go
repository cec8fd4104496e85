package serve

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"nbs-worker/internal/chat/conversation"
	"nbs-worker/internal/chat/serve/client"
	"nbs-worker/internal/claude/turn"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/platform/machine/local"
	"nbs-worker/internal/sim/rig"
	"nbs-worker/internal/store"
	"nbs-worker/internal/store/conversations"
	"nbs-worker/internal/store/storetest"
	"nbs-worker/internal/team/headless"
	"nbs-worker/internal/team/headless/headlesstest"
	"nbs-worker/internal/team/observe"
)

// It fails when anything is left: a goroutine, a descriptor.
func TestMain(m *testing.M) { os.Exit(storetest.Main(m, nil)) }

// stage is a project, and claudes that answer "re: TEXT".
type stage struct {
	*testing.T
	*headlesstest.Claudes

	store *store.Store

	mu    sync.Mutex
	says  []string      // of those that run
	begun chan struct{} // gets a value when "wait" is being answered; "login" waits for a person
}

func newStage(t *testing.T, project string) *stage {
	t.Helper()
	home := t.TempDir()
	opened, err := headlesstest.Project(project, home)
	rig.Must(t, err)
	t.Cleanup(func() { rig.Must(t, opened.Close()) })
	s := &stage{
		T: t, Claudes: &headlesstest.Claudes{TB: t, Config: t.TempDir(), Go: make(chan struct{})},
		store: opened, begun: make(chan struct{}, 10),
	}
	s.Respond = func(_ int, text string) turn.Outcome {
		switch text {
		case "wait":
			s.begun <- struct{}{}
			return turn.Outcome{Class: headlesstest.Waits, Answer: "re: wait"}
		case "login":
			return turn.Outcome{Class: turn.Authentication, Detail: "log in"}
		}
		return turn.Outcome{Answer: "re: " + text}
	}
	return s
}

// engine is that of one process of the project.
func (s *stage) engine() *conversation.Engine {
	e := conversation.New(&observe.Project{Machine: local.New(), Store: s.store, Env: []string{"NBS_CLAUDE=/bin/true", "CLAUDE_CODE_SANDBOXED=1", "PATH=" + os.Getenv("PATH")}, Now: storetest.SomeTime})
	e.Start = s.Start
	return e
}

// serving is a server that runs.
type serving struct {
	*Server

	stop func() error // returns when it has ended
}

func (s *stage) serve(change ...func(*Server)) *serving {
	s.Helper()
	server := New(s.engine(), func(format string, args ...any) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.says = append(s.says, fmt.Sprintf(format, args...))
	})
	server.Engine.Warm = &headless.Pool{Most: 4, Memory: 1 << 50, Idle: 1 << 50, Now: storetest.SomeTime}
	for _, c := range change {
		c(server)
	}
	ready := make(chan struct{})
	server.Ready = func() error { close(ready); return nil }
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- server.Run(ctx) }()
	stop := sync.OnceValue(func() error { cancel(); return <-ended })
	s.Cleanup(func() { rig.Must(s.T, stop()) })
	select {
	case <-ready:
	case err := <-ended:
		ended <- err
		s.Fatalf("it ended: %v", err)
	}
	return &serving{server, stop}
}

// accept makes a text durable, as a caller does before it asks the server.
func (s *stage) accept(key conversations.Key, text string) (id string) {
	s.Helper()
	say := conversation.Say{
		Request: conversations.Request{ID: string(key) + " " + text, Text: text, At: storetest.SomeTime()},
		Meta:    conversations.Meta{Cwd: s.store.Project(), ConfigDir: s.Config},
	}
	_, _, err := s.engine().Accept(s.Context(), key, say)
	rig.Must(s.T, err)
	return say.ID
}

func (s *stage) mustAnswer(key conversations.Key, text string) conversations.Result {
	s.Helper()
	result, there, err := client.Await(s.Context(), s.store, key, s.accept(key, text), nil)
	rig.Must(s.T, err)
	rig.Check(s.T, there && result.Answer == "re: "+text, "there: %v, %+v", there, result)
	return result
}

// A turn over the socket: its claude stays for the next one, of which the caller hears the words.
func TestATurnOverTheSocket(t *testing.T) {
	t.Parallel()
	s := newStage(t, t.TempDir())
	serving := s.serve()
	first := s.mustAnswer("review", "one")
	var heard []string
	second, _, err := client.Await(t.Context(), s.store, "review", s.accept("review", "two"), func(text string) { heard = append(heard, text) })
	rig.Must(t, err)
	rig.Check(t, strings.Join(heard, "") == "re: two" && second.SessionID == first.SessionID && second.Continuity == conversations.Resumed, "%q, then %+v", heard, second)
	rig.Check(t, s.Alive() == 1 && len(s.Launches()) == 1, "%d claudes of %d run", s.Alive(), len(s.Launches()))
	rig.Must(t, serving.stop())
	rig.Equal(t, s.Alive(), 0, "claudes that outlive the server")
	_, there, err := client.Await(t.Context(), s.store, "review", "none", nil)
	rig.Check(t, !there && err == nil, "a server that has ended: %v, %v", there, err)
}

// Two callers may hear the same turn; one that leaves takes nothing from the other, nor from the turn.
func TestACallerThatLeaves(t *testing.T) {
	t.Parallel()
	s := newStage(t, t.TempDir())
	serving := s.serve()
	id := s.accept("review", "wait")
	leaving, leave := context.WithCancel(t.Context())
	left := make(chan error, 1)
	go func() { _, _, err := client.Await(leaving, s.store, "review", id, func(string) {}); left <- err }()
	<-s.begun
	var heard []string
	stayed := make(chan conversations.Result, 1)
	go func() {
		r, _, _ := client.Await(t.Context(), s.store, "review", id, func(text string) { heard = append(heard, text) })
		stayed <- r
	}()
	rig.Eventually(t, "both listen", func() bool { return serving.listeners() == 2 })
	leave()
	rig.Check(t, errors.Is(<-left, context.Canceled), "who leaves is told something else")
	rig.Eventually(t, "one listens", func() bool { return serving.listeners() == 1 })
	close(s.Go)
	r := <-stayed
	rig.Check(t, r.Answer == "re: wait" && strings.Join(heard, "") == "re: wait", "%+v, heard %q", r, heard)
}

func (s *Server) listeners() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.hearing)
}

// A server that ends in the middle of a turn ends its claude and leaves the turn open; the next one answers it,
// though nobody asks.
func TestATurnOutlivesItsServer(t *testing.T) {
	t.Parallel()
	s := newStage(t, t.TempDir())
	serving := s.serve()
	id := s.accept("review", "wait")
	asked := make(chan bool, 1)
	go func() { _, there, _ := client.Await(t.Context(), s.store, "review", id, nil); asked <- there }()
	<-s.begun
	rig.Must(t, serving.stop())
	rig.Equal(t, s.Alive(), 0, "claudes that outlive the server")
	rig.Check(t, !<-asked, "who asked is told that this was the answer")
	state, err := s.store.Conversations().Of("review").State()
	rig.Check(t, err == nil && len(state.Open) == 1, "%+v, %v", state.Open, err)
	close(s.Go)
	s.serve()
	rig.Eventually(t, "it is answered", func() bool {
		r, done, err := s.store.Conversations().Of("review").Result(id)
		return err == nil && done && r.Answer == "re: wait"
	})
}

// What a server finds at its start, it says of each conversation.
func TestItSaysWhatGoesOn(t *testing.T) {
	t.Parallel()
	s := newStage(t, t.TempDir())
	first := s.serve()
	id := s.mustAnswer("review", "one").SessionID
	rig.Must(t, first.stop())
	s.serve()
	s.mu.Lock()
	defer s.mu.Unlock()
	rig.Check(t, strings.Join(s.says, "\n") == "review: goes on in session "+string(id), "it said %q", s.says)
}

func TestOneServerAProject(t *testing.T) {
	t.Parallel()
	s := newStage(t, t.TempDir())
	s.serve()
	err := New(s.engine(), s.Logf).Run(t.Context())
	storetest.WantKind(t, "a second server", err, fail.Conflict)
	s.mustAnswer("review", "one") // of which the first does not notice anything
}

// The kernel takes no path of more than 107 bytes for a socket.
func TestASocketInALongPath(t *testing.T) {
	t.Parallel()
	s := newStage(t, t.TempDir())
	s.store.RunIn(filepath.Join(t.TempDir(), strings.Repeat("long/", 40)))
	s.serve()
	s.mustAnswer("review", "one")
}

// A folder that others can write to could hold another's socket.
func TestNobodyElsesSocketIsAsked(t *testing.T) {
	t.Parallel()
	s := newStage(t, t.TempDir())
	s.serve()
	folder := filepath.Dir(client.SocketPath(s.store))
	rig.Must(t, os.Chmod(folder, 0o770))
	_, there, err := client.Await(t.Context(), s.store, "review", "x", nil)
	rig.Check(t, !there && err == nil, "it was asked: %v", err)
	rig.Must(t, os.Chmod(folder, 0o700))
}

func TestHealthAndMetrics(t *testing.T) {
	t.Parallel()
	s := newStage(t, t.TempDir())
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	rig.Must(t, err)
	s.serve(func(server *Server) { server.Metrics = listener })
	s.mustAnswer("review", "one")
	get := func(path string) string {
		t.Helper()
		client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
		response, err := client.Get("http://" + listener.Addr().String() + path)
		rig.Must(t, err)
		defer response.Body.Close()
		text, err := io.ReadAll(response.Body)
		rig.Must(t, err)
		return string(text)
	}
	rig.Eventually(t, "its claude is kept", func() bool { return strings.TrimSpace(get("/healthz")) == `{"status":"ok","warm":1,"open":{}}` })
	for _, line := range []string{`nbs_turns_total{result="answered"} 1`, `nbs_answers_total{continuity="new"} 1`, "nbs_warm_processes 1", `nbs_turns_open{state="dead"} 0`, "nbs_turn_duration_seconds_count 1"} {
		rig.Check(t, strings.Contains(get("/metrics"), line+"\n"), "no %q in:\n%s", line, get("/metrics"))
	}
	rig.Check(t, strings.Contains(get("/turn"), "not found"), "turns are taken on loopback")
}

// Many turns of many conversations, asked at once, leave nothing behind: TestMain looks.
func TestManyTurns(t *testing.T) {
	t.Parallel()
	s := newStage(t, t.TempDir())
	serving := s.serve()
	var all sync.WaitGroup
	for key := range 6 {
		all.Go(func() {
			for i := range 20 {
				s.mustAnswer(conversations.Key("key"+strconv.Itoa(key)), strconv.Itoa(i))
			}
		})
	}
	all.Wait()
	rig.Check(t, s.Alive() <= 4 && serving.listeners() == 0, "%d claudes are kept, %d listen", s.Alive(), serving.listeners())
	rig.Must(t, serving.stop())
	rig.Check(t, len(storetest.Names(t, filepath.Join(s.store.Runtime(), "turns"))) == 0, "files of turns are left")
}

// Ids are those of a key: who hears one conversation hears nothing of another's.
func TestOneHearsItsOwnConversation(t *testing.T) {
	t.Parallel()
	server := New(newStage(t, t.TempDir()).engine(), t.Logf)
	said, leave := server.listenTo(client.Turn{Key: "review", ID: "1", Stream: true})
	defer leave()
	server.heard("other", "1", conversation.Progress{Text: "a secret"})
	rig.Check(t, len(said) == 0, "it hears what another conversation says")
	server.heard("review", "1", conversation.Progress{Text: "npm test", Tool: "Bash"}) // is for a chat, not for a stream
	server.heard("review", "1", conversation.Progress{Text: "yes"})
	rig.Equal(t, <-said, "yes", "heard")
}
