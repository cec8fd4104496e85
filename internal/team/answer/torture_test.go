package answer

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"nbs-worker/internal/fail"
	"nbs-worker/internal/sim/rig"
	"nbs-worker/internal/store"
	"nbs-worker/internal/store/requests"
)

// play is a process of the torture: "hook" PROJECT RUN CLAUDE asks, and hands the answer to a claude, which is a file;
// "give" PROJECT RUN ID gives an answer.
func play(role []string) int {
	opened, err := store.Open(role[1])
	if err != nil {
		return 1
	}
	defer opened.Close()
	opened.RunIn(role[2])
	if role[0] == "give" {
		if opened.Requests().Give(role[3], requests.Answer{Allow: true, By: "killed", At: time.Now().UTC()}) != nil {
			return 1
		}
		return 0
	}
	return hook(opened.Requests(), role[3])
}

func hook(drawer *requests.Drawer, claude string) int {
	asked, err := drawer.Open(requests.Request{Handle: "alpha", At: time.Now(), Tool: "Bash", Input: json.RawMessage(`{"command":"make"}`)})
	if err != nil {
		return 1
	}
	defer asked.Close()
	fmt.Println(asked.ID)
	for {
		a, there, err := asked.Answer()
		if err != nil {
			return 1
		}
		if there {
			got, err := os.OpenFile(claude+"/"+asked.ID, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
			if err != nil {
				return 1
			}
			if _, err := got.WriteString(a.By + "\n"); err != nil || got.Close() != nil || asked.Take(a) != nil {
				return 1
			}
			return 0
		}
		<-time.After(time.Millisecond)
	}
}

// Many answer at once, and hooks and answerers are killed at any moment. A receipt is true: claude has that answer and
// no other. What is refused did nothing. Nobody answers a request that they did not name.
func TestManyAnswerWhileHooksAreKilled(t *testing.T) {
	t.Parallel()
	const rounds, answerers = 40, 4
	w := newWorld(t)
	w.limit = rig.Scaled(10 * time.Second)
	claude := filepath.Join(w.dir, "claude")
	rig.Must(t, os.Mkdir(claude, 0o700))
	var mu sync.Mutex
	tally := map[string]int{}
	for round := range rounds {
		cmd := rig.Command("hook", w.project.Store.Project(), w.dir+"/run", claude)
		id, stop := w.startHook(cmd)
		outcomes := map[string]error{}
		var all sync.WaitGroup
		start := make(chan struct{})
		for n := range answerers {
			all.Go(func() {
				<-start
				by := fmt.Sprintf("answerer %d of %d", n, round)
				_, err := w.Answer(t.Context(), "alpha", id, Say{Allow: n%2 == 0, By: by})
				mu.Lock()
				defer mu.Unlock()
				outcomes[by] = err
			})
		}
		all.Go(func() { // an answerer that is killed
			<-start
			giver := rig.Command("give", w.project.Store.Project(), w.dir+"/run", id)
			if giver.Start() == nil {
				<-time.After(time.Duration(rand.IntN(20)) * time.Millisecond)
				_ = giver.Process.Kill()
				_ = giver.Wait()
			}
		})
		close(start)
		if round%2 == 0 {
			<-time.After(time.Duration(rand.IntN(4000)) * time.Microsecond)
			_ = cmd.Process.Kill()
		}
		all.Wait()
		stop()
		for word, n := range w.checkRound(claude, id, outcomes) {
			tally[word] += n
		}
	}
	t.Logf("%v", tally)
	rig.Check(t, tally["proved"] > 0 && tally["answered"] > 0, "%v", tally)
	names, err := os.ReadDir(w.project.Store.Requests().Folder())
	rig.Must(t, err)
	_, err = w.project.Store.Requests().List()
	rig.Must(t, err)
	for _, name := range names {
		end := filepath.Ext(name.Name())
		rig.Check(t, end == ".taken" || end == ".draft" || end == ".request" || end == ".answer" || end == ".lock", "left: %s", name.Name())
	}
}

// startHook starts a hook, and returns the id of its request.
func (w *world) startHook(cmd *exec.Cmd) (id string, stop func()) {
	w.Helper()
	said, err := cmd.StdoutPipe()
	rig.Must(w, err)
	rig.Must(w, cmd.Start())
	id, err = bufio.NewReader(said).ReadString('\n')
	rig.Must(w, err)
	return strings.TrimSpace(id), func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}
}

// checkRound compares what the answerers were told with what claude got, and counts the outcomes.
func (w *world) checkRound(claude, id string, outcomes map[string]error) map[string]int {
	w.Helper()
	text, err := os.ReadFile(filepath.Join(claude, id))
	rig.Check(w, err == nil || errors.Is(err, os.ErrNotExist), "%v", err)
	got, tally := strings.TrimSpace(string(text)), map[string]int{}
	rig.Check(w, !strings.Contains(got, "\n"), "claude got two answers to %s: %q", id, got)
	for by, err := range outcomes {
		switch {
		case err == nil:
			tally["proved"]++
			rig.Check(w, got == by, "%s was told that it answered %s; claude got %q", by, id, got)
		case errors.Is(err, ErrUnproved):
			tally["unproved"]++
			rig.Check(w, got == by || got == "", "%s may have answered %s; claude got %q", by, id, got)
		case errors.Is(err, ErrAnswered), errors.Is(err, ErrOver):
			tally["answered"]++
			rig.Check(w, got != by, "%s was told that it did nothing to %s; claude got its answer: %v", by, id, err)
			rig.Check(w, fail.KindOf(err) == fail.Conflict, "%v", err)
		default:
			w.Errorf("%s: %v", by, err)
		}
	}
	rig.Check(w, tally["proved"] < 2, "two answerers have a receipt for %s", id)
	return tally
}
