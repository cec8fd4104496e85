package observer

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/claude/past"
	"nbs-worker/internal/claude/turn"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/memory"
	"nbs-worker/internal/memory/db"
	"nbs-worker/internal/platform/machine/local"
	"nbs-worker/internal/sim/rig"
	"nbs-worker/internal/store/storetest"
	"nbs-worker/internal/team/headless/headlesstest"
	"nbs-worker/internal/team/observe"
)

func database(project string) string { return filepath.Join(project, ".nbs", "memory.db") }

// playRole makes the test binary a worker of a project: its claudes note the name of the turn that they are shown, and
// who noted it.
func playRole(words []string) {
	project, home := words[0], words[1]
	opened, err := headlesstest.Project(project, home)
	storetest.Must(err)
	kept, err := db.Open(context.Background(), database(project))
	storetest.Must(err)
	w := New(&observe.Project{Machine: local.New(), Store: opened, Env: append(os.Environ(), "NBS_CLAUDE=/bin/true"), Now: time.Now}, kept)
	claudes := headlesstest.Claudes{Respond: func(_ int, text string) turn.Outcome {
		return noted(fmt.Sprintf("%s by %d", shownTurn.FindString(text), os.Getpid()))
	}}
	w.Start = claudes.Start
	_, err = w.Once(context.Background())
	storetest.Must(errors.Join(err, kept.Close(), opened.Close()))
}

// A worker is killed at any moment. Each turn is observed once in the end, under the id of an observer and of nobody
// else, and what is kept in between is whole.
func TestKilledWorkerObservesEachTurnOnce(t *testing.T) {
	t.Parallel()
	ofPlayed, ofEach, real := 10, 2, []string{rig.Newest}
	if all, err := strconv.Atoi(os.Getenv("NBS_MEMORY_KILLS")); err == nil { // a whole campaign
		ofPlayed, ofEach, real = all, all/2, []string{rig.Oldest, rig.Newest}
	}
	seed := uint64(time.Now().UnixNano())
	if text, set := os.LookupEnv("NBS_MEMORY_SEED"); set {
		var err error
		seed, err = strconv.ParseUint(text, 10, 64)
		rig.Must(t, err)
	}
	test := func(name string, kills int, make func(t *testing.T) *site) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			t.Logf("seed %d", seed)
			killWorkers(t, kills, rand.New(rand.NewPCG(seed, 0)), make)
		})
	}
	var long time.Duration // is the run of a worker that is played
	test("stand-in", ofPlayed, func(t *testing.T) *site {
		if long == 0 {
			begun := time.Now()
			newPlayed(t, 8, 0).run(nil, false)
			long = time.Since(begun)
		}
		return newPlayed(t, 8, long)
	})
	for _, version := range real {
		test(version, ofEach, func(t *testing.T) *site { return newReal(t, version).site(4) })
	}
}

// site is a project with turns that are not observed, whose worker is killed.
type site struct {
	*stage
	agents []agent.Record
	turns  int                                            // of all of them
	work   func() *exec.Cmd                               // the worker, which observes what there is and leaves
	moment func(random *rand.Rand, ended <-chan struct{}) // waits until the worker is to be killed, or has ended
	asked  func() (all, answered int)                     // turns that the API was asked about in the last run, where that is seen
	rest   func()                                         // checks what is left when all is observed
}

// killWorkers kills as many workers, on one site after the other, and lets the last of each site do its work.
func killWorkers(t *testing.T, kills int, random *rand.Rand, make func(t *testing.T) *site) {
	const inARow = 5
	begun, at, killed := time.Now(), map[string]int{}, 0
	for killed < kills {
		s := make(t)
		for before, run := s.state(), 0; ; run++ {
			died := s.run(random, run < inARow && killed < kills)
			after := s.state()
			if !died {
				rig.Equal(t, after.turns, s.turns, "turns that are observed in the end")
				break
			}
			killed++
			at[before.killedAt(&after)]++
			before = after
		}
		s.rest()
		if t.Failed() {
			break // the next would say the same
		}
	}
	t.Logf("%d kills in %s: %v", killed, time.Since(begun).Round(time.Second), at)
	rig.Check(t, kills < 20 || len(at) >= 3, "all kills came at the same moments")
}

// run runs the worker to its end, or kills it.
func (s *site) run(random *rand.Rand, kill bool) (died bool) {
	s.Helper()
	cmd := s.work()
	var said rig.Output
	cmd.Stdout, cmd.Stderr = &said, &said
	rig.Must(s.T, cmd.Start())
	ended, struck := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(struck)
		if kill {
			s.moment(random, ended)
			_ = cmd.Process.Kill() // it may have ended
		}
	}()
	err := cmd.Wait()
	close(ended)
	<-struck
	exit, failed := errors.AsType[*exec.ExitError](err)
	died = failed && exit.ExitCode() < 0
	rig.Check(s.T, err == nil || died, "the worker: %v\n%s", err, &said)
	return died
}

// state is what is kept of a site, and what is under way there.
type state struct {
	turns     int    // that are observed
	captured  string // ids of observers
	begun     string // claudes that have not come to their end, or whose worker was killed before
	asked     int    // turns that the API was asked about in the last run
	answered  int    // of those
	announced int    // ends of turns, that wait
}

// killedAt names the moment at which a worker was killed, by the state before it began and that after its end.
func (s *state) killedAt(after *state) string {
	inserted := after.turns - s.turns
	switch {
	case after.answered > inserted:
		return "answered"
	case after.asked > inserted:
		return "asked"
	case inserted > 0 && after.announced < s.announced:
		return "taken"
	case inserted > 0:
		return "inserted"
	case after.captured != s.captured:
		return "captured"
	case after.begun != s.begun:
		return "claude starts"
	}
	return "before claude"
}

// state looks at what is kept, and checks that it is whole: of each agent the first turns are observed, each once, and
// the next to be shown is the first that is not.
func (s *site) state() (now state) {
	s.Helper()
	now.asked, now.answered = s.asked()
	now.begun, now.announced = s.begun(), s.announced()
	kept, err := db.Open(s.Context(), database(s.Project.Store.Project()))
	if fail.KindOf(err) == fail.NotFound {
		return now
	}
	rig.Must(s.T, err)
	defer kept.Close()
	wrong, err := kept.Check(s.Context(), func(agent.Handle) bool { return true })
	rig.Check(s.T, err == nil && len(wrong) == 0, "%q, %v", wrong, err)
	for i := range s.agents {
		turns, memoryID := s.observed(kept, &s.agents[i])
		now.turns += turns
		now.captured += string(memoryID) + " "
		rig.Check(s.T, !slices.ContainsFunc(s.agents, func(r agent.Record) bool { return r.SessionID == memoryID }), "%s is an agent's", memoryID)
	}
	return now
}

// begun are the files of claudes that were started and have not come to their end.
func (s *site) begun() string {
	return strings.Join(storetest.Names(s.T, filepath.Join(s.Project.Store.Runtime(), "turns")), " ")
}

var shownTurn = regexp.MustCompile(`work (\d+)`)

// observed tells how many turns of an agent are observed, and by whom.
func (s *site) observed(kept *db.Database, r *agent.Record) (turns int, by agent.SessionID) {
	s.Helper()
	all, err := kept.Latest(s.Context(), memory.Query{Handle: r.Handle, Limit: 1000})
	rig.Must(s.T, err)
	slices.Reverse(all)
	for i, o := range all {
		about := shownTurn.FindStringSubmatch(o.Title)
		rig.Check(s.T, o.Turn == i+1 && about != nil && about[1] == strconv.Itoa(i+1) && o.ContentID == r.SessionID,
			"observation %d of %s: %+v", i+1, r.Handle, o)
	}
	known, err := kept.Observed(s.Context(), r.SessionID)
	if fail.KindOf(err) == fail.NotFound {
		return 0, ""
	}
	rig.Must(s.T, err)
	file, _, err := s.Worker.transcript(target{record: *r, id: r.SessionID})
	rig.Must(s.T, err)
	read, err := past.Behind(file, known.ReadTo, false)
	rig.Check(s.T, err == nil && !read.Lost && len(all)+len(read.Turns) == s.turns/len(s.agents),
		"%s: %d turns are observed, and %d are to be: %v", r.Handle, len(all), len(read.Turns), err)
	return len(all), known.MemoryID
}

// newPlayed is a site whose agents and observers are played. long is how long the worker takes, about.
func newPlayed(t *testing.T, turns int, long time.Duration) *site {
	t.Helper()
	project, home := storetest.MemoryProject(t), rig.MemoryDir(t)
	opened, err := headlesstest.Project(project, home)
	rig.Must(t, err)
	t.Cleanup(func() { rig.Must(t, opened.Close()) })
	s := &site{
		turns: turns, asked: func() (all, answered int) { return 0, 0 }, rest: func() {},
		stage: &stage{T: t, Worker: New(&observe.Project{Machine: local.New(), Store: opened}, nil), Claudes: &headlesstest.Claudes{TB: t, Config: filepath.Join(home, "claude")}, now: storetest.SomeTime(), lines: map[agent.SessionID]int{}},
		work:  func() *exec.Cmd { return rig.Command(project, home) },
	}
	for _, handle := range []agent.Handle{"alpha", "beta"} {
		r := s.agent(handle)
		s.agents = append(s.agents, r)
		for i := range turns / 2 {
			s.turn(handle, r.SessionID, fmt.Sprintf("work %d", i+1))
		}
	}
	kept, err := db.Create(t.Context(), database(project), func(string) error { return nil })
	rig.Must(t, err)
	rig.Must(t, kept.Close())
	s.moment = func(random *rand.Rand, ended <-chan struct{}) { within(random, long, ended) }
	return s
}

// within waits for a part of a time, or until the worker has ended.
func within(random *rand.Rand, limit time.Duration, ended <-chan struct{}) {
	select {
	case <-time.After(time.Duration(random.Int64N(int64(limit)))):
	case <-ended:
	}
}
