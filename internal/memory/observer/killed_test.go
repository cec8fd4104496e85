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
	"strconv"
	"testing"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/claude/turn"
	"nbs-worker/internal/memory"
	"nbs-worker/internal/memory/db"
	"nbs-worker/internal/observe"
	"nbs-worker/internal/sim/rig"
	"nbs-worker/internal/store"
	"nbs-worker/internal/store/storetest"
	"nbs-worker/internal/trust"
)

// own opens a project as its user.
func own(project, home string) (*store.Store, error) {
	opened, err := store.Create(project)
	if err != nil {
		return nil, err
	}
	opened.UseHome(trust.Home(home))
	opened.RunIn(filepath.Join(home, "run"))
	opened.Use(trust.NewKeeper(trust.Home(home)))
	return opened, nil
}

func database(project string) string { return filepath.Join(project, ".nbs", "memory.db") }

// playRole makes the test binary a worker of a project: its claudes note the name of the turn that they are shown, and
// who noted it.
func playRole(words []string) {
	project, home := words[0], words[1]
	opened, err := own(project, home)
	storetest.Must(err)
	kept, err := db.Open(context.Background(), database(project))
	storetest.Must(err)
	w := New(observe.Observer{Store: opened, Env: append(os.Environ(), "NBS_CLAUDE=/bin/true"), Now: time.Now}, kept)
	w.Start = func(l turn.Launch) (Process, error) { return noter{l}, nil }
	_, err = w.Once(context.Background())
	storetest.Must(errors.Join(err, kept.Close(), opened.Close()))
}

var shownTurn = regexp.MustCompile(`work (\d+)`)

// noter is a claude that notes which turn it was shown. It cannot be resumed: there is no transcript of it.
type noter struct{ turn.Launch }

func (n noter) Turn(_ context.Context, _, text string, heard func(turn.Event)) (turn.Outcome, error) {
	for i, arg := range n.Args {
		if arg == "--session-id" {
			heard(turn.Event{Kind: turn.Confirmed, SessionID: agent.SessionID(n.Args[i+1])})
		}
	}
	o := noted(fmt.Sprintf("%s by %d", shownTurn.FindString(text), os.Getpid()))
	return o, nil
}

func (noter) Close(context.Context) error { return nil }

// A worker is killed at any moment. Each turn is observed once in the end, under the id of an observer and of nobody
// else, and what the database is in between is whole.
func TestKilledWorkerObservesEachTurnOnce(t *testing.T) {
	t.Parallel()
	rounds, err := strconv.Atoi(os.Getenv("NBS_MEMORY_KILLS"))
	if err != nil {
		rounds = 20
	}
	seed := uint64(time.Now().UnixNano())
	if text, set := os.LookupEnv("NBS_MEMORY_SEED"); set {
		seed, err = strconv.ParseUint(text, 10, 64)
		rig.Must(t, err)
	}
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	const turns = 8
	usual, killed, between := usualTime(t, turns), 0, 0
	for kill := 0; kill < rounds; {
		s, project := newKilled(t, turns)
		for run := 0; ; run++ {
			after := time.Duration(random.Int64N(int64(usual)))
			if run == 5 || kill == rounds {
				after = 0 // it is let work
			}
			died := s.run(t, project, after)
			if died {
				kill++
				killed++
			}
			if seen := s.check(t, project); seen > 0 && seen < turns {
				between++
			}
			if !died {
				break
			}
		}
		rig.Equal(t, s.check(t, project), turns, "turns that are observed in the end")
	}
	t.Logf("%d kills, %d of them between the first turn and the last; a run takes %s", killed, between, usual.Round(time.Millisecond))
	rig.Check(t, killed >= rounds && between > 0, "%d kills, %d in between", killed, between)
}

// killed is a project whose worker is killed.
type killed struct{ home string }

func newKilled(t *testing.T, turns int) (*killed, string) {
	t.Helper()
	project, home := storetest.MemoryProject(t), rig.MemoryDir(t)
	opened, err := own(project, home)
	rig.Must(t, err)
	defer opened.Close()
	s := &stage{T: t, Worker: New(observe.Observer{Store: opened}, nil), config: filepath.Join(home, "claude"), now: storetest.SomeTime(), lines: map[agent.SessionID]int{}}
	for _, handle := range []agent.Handle{"alpha", "beta"} {
		r := s.agent(handle)
		for i := range turns / 2 {
			s.turn(handle, r.SessionID, fmt.Sprintf("work %d", i+1))
		}
	}
	kept, err := db.Create(t.Context(), database(project), func(string) error { return nil })
	rig.Must(t, err)
	rig.Must(t, kept.Close())
	return &killed{home}, project
}

// run runs the worker, and kills it after a while; 0: never.
func (k *killed) run(t *testing.T, project string, after time.Duration) (died bool) {
	t.Helper()
	cmd := rig.Command(project, k.home)
	cmd.Stderr = os.Stderr
	rig.Must(t, cmd.Start())
	if after > 0 {
		defer time.AfterFunc(after, func() { _ = cmd.Process.Kill() }).Stop()
	}
	err := cmd.Wait()
	if exit, is := errors.AsType[*exec.ExitError](err); is && exit.ExitCode() < 0 {
		return true
	}
	rig.Must(t, err)
	return false
}

// usualTime is how long a worker takes that is let work.
func usualTime(t *testing.T, turns int) time.Duration {
	t.Helper()
	k, project := newKilled(t, turns)
	begun := time.Now()
	k.run(t, project, 0)
	return time.Since(begun)
}

// check checks what is kept, and tells how many turns are observed.
func (k *killed) check(t *testing.T, project string) int {
	t.Helper()
	kept, err := db.Open(t.Context(), database(project))
	rig.Must(t, err)
	defer kept.Close()
	wrong, err := kept.Check(t.Context())
	rig.Check(t, err == nil && len(wrong) == 0, "%q, %v", wrong, err)
	all, err := kept.Latest(t.Context(), memory.Query{Limit: 1000})
	rig.Must(t, err)
	seen := map[string]bool{}
	for _, o := range all {
		name := fmt.Sprintf("%s/%d", o.Handle, o.Turn)
		rig.Check(t, !seen[name], "%s is observed twice: %+v", name, all)
		rig.Check(t, o.MemoryID != o.ContentID, "%+v", o)
		seen[name] = true
	}
	return len(all)
}
