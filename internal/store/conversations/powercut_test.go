package conversations

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"nbs-worker/internal/sim/rig"
	"nbs-worker/internal/store/private"
	"nbs-worker/internal/store/sealed"
	"nbs-worker/internal/store/storetest"
	"nbs-worker/internal/store/trust"
)

// Power cuts, as the store's: see [rig.Disk]. A writer accepts texts and has them answered. It says 2n-1 when text n is
// accepted, and 2n when its answer is kept.

func TestPowerCutLosesNothingThatWasAccepted(t *testing.T) {
	t.Parallel()
	rig.CutAtRandom(t, "count-up", lost)
}

func TestPowerCutRightAfterEachStep(t *testing.T) {
	t.Parallel()
	rig.Equal(t, rig.LossesOf(t, "count-up", lost), 0, "losses")
}

// lost says what is lost of the project, when a number was said.
func lost(project string, said int) string {
	nbs, err := private.OpenFolder(project + "/.nbs")
	if err != nil {
		return fmt.Sprintf("%d was said: %v", said, err)
	}
	defer nbs.Close()
	written := filepath.Join(filepath.Dir(filepath.Dir(project)), "disk", filepath.Base(project)) // seals name the place
	c := In(&sealed.Folder{Folder: nbs, Keeper: trust.NewKeeper(trust.Home(project + ".home")), Project: written}).Of(chat)
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

// counter plays the writer.
func counter(ctx context.Context, project string) (write func(n int) error) {
	storetest.Must(os.MkdirAll(filepath.Join(project, ".nbs", private.Locks), 0o700))
	c := open(project).Of(chat)
	return func(n int) error {
		text := (n + 1) / 2
		id := strconv.Itoa(text)
		if n%2 == 1 {
			_, _, err := c.Enqueue(ctx, Meta{}, asked(id, "text "+id))
			return err
		}
		return errors.Join(c.Begin(ctx, start(text)), c.Finish(ctx, answered(text, "to "+id)))
	}
}
