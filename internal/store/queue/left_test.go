package queue

import (
	"fmt"
	"os"
	"testing"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/store/storetest"

	"nbs-worker/internal/sim/rig"
)

// What was left in a prompt counts for the start that it was left in, and with the user's seal.
func TestWhatWasLeftInAPrompt(t *testing.T) {
	t.Parallel()
	q, folder := inFolder(t)
	const start = agent.Invocation("one")
	left := q.Left(start)
	for i := range mostLeft + 2 {
		left = left.Typed(fmt.Sprint("text ", i), storetest.SomeTime())
	}
	left = left.Typed("text 5", storetest.SomeTime())
	rig.Must(t, q.KeepLeft(left))
	got := q.Left(start)
	rig.Check(t, len(got.Texts) == mostLeft && got.Texts[mostLeft-1] == "text 5" && got.Since.Equal(storetest.SomeTime()), "%+v", got)
	rig.Check(t, len(q.Left("two").Texts) == 0 && texts(t, q) == "", "of another start: %+v; waiting: %s", q.Left("two"), texts(t, q))
	file := folder + "/alpha.left.json"
	storetest.Write(t, file, `{"invocation":"one","texts":["a person's"]}`)
	rig.Check(t, len(q.Left(start).Texts) == 0, "without a seal: %+v", q.Left(start))
	rig.Must(t, q.KeepLeft(Left{Invocation: start}))
	_, err := os.Stat(file)
	rig.Check(t, os.IsNotExist(err), "nothing is left: %v", err)
	rig.Must(t, q.ForgetLeft())
}

// A draft with which a turn began is not the one that a person types later.
func TestDraftThatWasSentBlocksNothing(t *testing.T) {
	t.Parallel()
	at := storetest.SomeTime().Truncate(time.Second)
	left := Left{Blocks: at}
	rig.Check(t, left.BlocksAfter(time.Time{}).Equal(at) && left.BlocksAfter(at.Add(time.Second/2)).Equal(at), "the draft that blocks")
	rig.Check(t, left.BlocksAfter(at.Add(time.Minute)).IsZero(), "a later one")
}
