package conversations

import (
	"bufio"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"nbs-worker/internal/sim/rig"
	"nbs-worker/internal/store/private"
	"nbs-worker/internal/store/storetest"
	"nbs-worker/internal/trust"
)

// Power cuts, as the store's: see [rig.Disk]. A writer accepts texts and has them answered. It says 2n-1 when text n is
// accepted, and 2n when its answer is kept.

const powerCuts = 30

func TestPowerCutLosesNothingThatWasAccepted(t *testing.T) {
	t.Parallel()
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	d := rig.NewDisk(t)
	running := d.StartWriter("count-up")
	for cut := 0; cut < powerCuts || running.Said() < powerCuts; cut++ { // a busy machine writes little in a moment
		<-time.After(time.Duration(random.IntN(30_000)) * time.Microsecond)
		rig.Equal(t, d.Cut(running, lost), "", "cut %d", cut)
	}
	t.Logf("%d times something was accepted or answered", running.Said())
}

// Right after something was said a missing sync shows.
func TestPowerCutRightAfterEachStep(t *testing.T) {
	t.Parallel()
	d := rig.NewDisk(t)
	stepping := d.StartStepwise("count-up")
	for cut := range 10 {
		stepping.Step()
		rig.Equal(t, d.Cut(stepping, lost), "", "cut %d", cut)
	}
}

// lost says what is lost of the project, when a number was said.
func lost(project string, said int) string {
	nbs, err := private.OpenFolder(project + "/.nbs")
	if err != nil {
		return fmt.Sprintf("%d was said: %v", said, err)
	}
	defer nbs.Close()
	written := filepath.Join(filepath.Dir(filepath.Dir(project)), "disk", filepath.Base(project)) // seals name the place
	c := In(nbs, trust.NewKeeper(trust.Home(project+".home")), written, func() error { return nil }).Of(chat)
	state, err := c.State()
	if err != nil {
		return fmt.Sprintf("%d was said: %v", said, err)
	}
	for n := 1; 2*n-1 <= said; n++ {
		id := strconv.Itoa(n)
		result, answered, err := c.Result(id)
		if err != nil || answered && result.Answer != "to "+id || !answered && (2*n <= said || state.withID(id) == nil) {
			return fmt.Sprintf("%d was said; of text %d: %+v, %t, %v", said, n, result, answered, err)
		}
	}
	return ""
}

// countUp plays the writer; stepwise, it waits for a byte before each number.
func countUp(ctx context.Context, project string, stepwise bool) {
	storetest.Must(os.MkdirAll(filepath.Join(project, ".nbs", private.Locks), 0o700))
	c := open(project).Of(chat)
	words := bufio.NewReader(os.Stdin)
	mayGoOn := func() bool {
		if !stepwise {
			return true
		}
		_, err := words.ReadByte()
		return err == nil
	}
	for n := 1; mayGoOn(); n++ {
		id := strconv.Itoa(n)
		_, _, err := c.Enqueue(ctx, Meta{}, asked(id, "text "+id))
		storetest.Must(err)
		fmt.Println(2*n - 1)
		if !mayGoOn() {
			return
		}
		storetest.Must(c.Begin(ctx, start(n)))
		storetest.Must(c.Finish(ctx, answered(n, "to "+id)))
		fmt.Println(2 * n)
	}
}
