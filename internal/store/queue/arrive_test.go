package queue

import (
	"errors"
	"testing"

	"nbs-worker/internal/sim/rig"
	"nbs-worker/internal/store/storetest"
	"nbs-worker/internal/store/storetest/nbs"
)

// What comes with an agent waits in its order, once: also if it comes again, and if a part was delivered since.
func TestEntriesArriveOnce(t *testing.T) {
	t.Parallel()
	there, _ := inFolder(t)
	for _, text := range []string{"one", "two", "three"} {
		add(t, there, text, Waiting)
	}
	come, unsealed, err := there.Sealed()
	rig.Check(t, err == nil && len(come) == 3 && len(unsealed) == 0, "%d, %d, %v", len(come), len(unsealed), err)

	here := of(t, nbs.New(t, Folder), "alpha") // of another user
	add(t, here, "zero", Waiting)
	rig.Must(t, here.Arrive(t.Context(), come[:2])) // a call that was killed
	rig.Must(t, here.Arrive(t.Context(), come))
	rig.Equal(t, texts(t, here), "zero waiting, one waiting, two waiting, three waiting", "after it came again")
	all, err := here.Entries()
	rig.Must(t, err)
	for i := range all {
		rig.Check(t, here.IsDue(&all[i]), "%s is not due: it has no seal here", all[i].Text)
	}
	rig.Check(t, all[1].ID == come[0].ID, "it has another id")
	rig.Must(t, here.Deliver(t.Context(), all[1]))
	rig.Must(t, here.Arrive(t.Context(), come))
	rig.Equal(t, texts(t, here), "zero waiting, two waiting, three waiting", "after one was delivered")
}

// A message without the seal of the user does not go along.
func TestUnsealedEntriesStay(t *testing.T) {
	t.Parallel()
	q, folder := inFolder(t)
	add(t, q, "mine", Waiting)
	e := add(t, q, "forged", Waiting)
	storetest.Write(t, folder+"/"+e.name, `{"id":"`+e.ID+`","text":"forged","state":"waiting"}`)
	all, unsealed, err := q.Sealed()
	rig.Must(t, err)
	rig.Check(t, len(all) == 1 && all[0].Text == "mine" && len(unsealed) == 1, "%+v, %+v", all, unsealed)
}

// An agent that leaves takes no message, and neither does one that is gone.
func TestAgentThatTakesNoMessage(t *testing.T) {
	t.Parallel()
	q, _ := inFolder(t)
	why := errors.New("it leaves")
	q.takes = func() error { return why }
	_, err := q.Add(t.Context(), Entry{Text: "x", State: Waiting})
	rig.Check(t, errors.Is(err, why) && q.Newest() == "", "%v, %q", err, q.Newest())
}
