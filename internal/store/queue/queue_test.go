package queue

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/store/private"
	"nbs-worker/internal/store/sealed"
	"nbs-worker/internal/store/storetest"
	"nbs-worker/internal/store/storetest/nbs"
	"nbs-worker/internal/store/trust"

	"nbs-worker/internal/sim/rig"
)

// inFolder is the outbox of alpha in a project with an empty .nbs, and the folder of its entries.
func inFolder(t *testing.T) (*Queue, string) {
	t.Helper()
	in := nbs.New(t, Folder)
	return of(t, in, "alpha"), in.Path(Folder)
}

// of is the outbox of an agent there.
func of(t *testing.T, in *sealed.Folder, handle agent.Handle) *Queue {
	t.Helper()
	return In(in, handle, private.Tree(t.TempDir()+"/memory"), "p", func() error { return nil })
}

func add(t *testing.T, q *Queue, text string, state State) Entry {
	t.Helper()
	e, err := q.Add(t.Context(), Entry{Text: text, State: state, Created: storetest.SomeTime()})
	rig.Must(t, err)
	return e
}

func texts(t *testing.T, q *Queue) string {
	t.Helper()
	all, err := q.Entries()
	rig.Must(t, err)
	var got []string
	for _, e := range all {
		got = append(got, e.Text+" "+string(e.State))
	}
	return strings.Join(got, ", ")
}

func TestEntriesKeepTheirOrder(t *testing.T) {
	t.Parallel()
	q, _ := inFolder(t)
	rig.Check(t, q.Newest() == "", "an empty outbox has a newest entry")
	for i := range 12 { // names of other lengths would be out of order
		add(t, q, strconv.Itoa(i), Waiting)
	}
	all, err := q.Entries()
	if err != nil || len(all) != 12 {
		t.Fatal(all, err)
	}
	rig.Check(t, q.Due() == all[11].name && q.Due() == q.Newest(), "due is %q, newest %q", q.Due(), q.Newest())
	all[1].State = Unknown
	storetest.Must(q.Put(t.Context(), all[1]))
	storetest.Must(q.Remove(t.Context(), all[0]))
	got, want := texts(t, q), "1 unknown, 2 waiting, 3 waiting,"
	rig.Check(t, strings.HasPrefix(got, want), "%q; want %q first", got, want)
	err = q.Put(t.Context(), all[0])
	rig.Check(t, errors.Is(err, fs.ErrNotExist), "what was removed is put back: %v", err)
	err = q.Remove(t.Context(), all[0])
	rig.Check(t, errors.Is(err, fs.ErrNotExist), "removed twice: %v", err)
	other := of(t, q.nbs, "alpha-2")
	add(t, other, "of another agent", Waiting)
	gone, err := q.Clear(t.Context())
	rig.Check(t, err == nil && len(gone) == 11 && texts(t, q) == "" && texts(t, other) == "of another agent waiting", "%d, %v", len(gone), err)
}

// An outbox that cannot be listed is not empty: the next agent of the name would get what waits in it.
func TestOutboxThatCannotBeListedIsNotCleared(t *testing.T) {
	t.Parallel()
	q, folder := inFolder(t)
	rig.Must(t, os.Remove(folder))
	storetest.Write(t, folder, "")
	gone, err := q.Clear(t.Context())
	rig.Check(t, err != nil, "%d are gone", len(gone))
}

// What each of several senders adds comes in the order in which that sender added it, and nothing is lost.
func TestConcurrentSendersLineUp(t *testing.T) {
	t.Parallel()
	q, _ := inFolder(t)
	var senders sync.WaitGroup
	for sender := range 5 {
		senders.Go(func() {
			for i := range 10 {
				_, err := q.Add(context.WithoutCancel(t.Context()), Entry{Text: fmt.Sprintf("%d:%d", sender, i), State: Waiting})
				rig.Check(t, err == nil, "%v", err)
			}
		})
	}
	senders.Wait()
	all, err := q.Entries()
	if err != nil || len(all) != 50 {
		t.Fatalf("%d entries, %v", len(all), err)
	}
	next := map[string]int{}
	for _, e := range all {
		sender, i, _ := strings.Cut(e.Text, ":")
		rig.Check(t, i == strconv.Itoa(next[sender]), "%s is out of its order", e.Text)
		next[sender]++
	}
}

// What somebody else has put there, changed or copied counts for nothing.
func TestOnlyWhatTheUserVouchesForCounts(t *testing.T) {
	t.Parallel()
	q, folder := inFolder(t)
	mine := add(t, q, "mine", Waiting)
	rig.Must(t, q.CheckSeal(&mine))
	file := folder + "/" + mine.name
	elsewhere, another := *q.nbs, *q.nbs
	elsewhere.Project, another.Keeper = "/srv/other", trust.NewKeeper(trust.Home(t.TempDir()))
	for what, planted := range map[string]struct {
		in   *Queue
		name string
		text string
	}{
		"changed":               {q, mine.name, strings.Replace(storetest.Read(t, file), `"mine"`, `"theirs"`, 1)},
		"its envelope taken":    {q, mine.name, strings.Replace(storetest.Read(t, file), `"text"`, `"from":"x","text"`, 1)},
		"of another agent":      {of(t, q.nbs, "beta"), "beta.000000001.json", storetest.Read(t, file)},
		"of another project":    {of(t, &elsewhere, "alpha"), mine.name, storetest.Read(t, file)},
		"of another user":       {of(t, &another, "alpha"), mine.name, storetest.Read(t, file)},
		"without a seal at all": {q, mine.name, `{"id":"x","handle":"alpha","text":"theirs","state":"waiting"}`},
	} {
		storetest.Write(t, folder+"/"+planted.name, planted.text)
		all, err := planted.in.Entries()
		if err != nil || len(all) != 1 {
			t.Fatalf("%s: %v, %v", what, all, err)
		}
		storetest.WantKind(t, what, planted.in.CheckSeal(&all[0]), fail.Held)
		due := planted.in.Due()
		rig.Check(t, due == "", "%s: it is due", what)
	}
}

func TestDamagedEntryIsLoud(t *testing.T) {
	t.Parallel()
	q, folder := inFolder(t)
	e := add(t, q, "mine", Waiting)
	storetest.Write(t, folder+"/"+e.name, `{"id":`)
	storetest.Write(t, folder+"/.alpha.000000002.json123", `{"id":`) // a killed writer's
	_, err := q.Entries()
	storetest.WantKind(t, "damaged", err, fail.Failed)
	storetest.WantHint(t, err, "rm ")
	due := q.Due()
	rig.Check(t, due == e.name, "due is %q: who would say so is not called", due)
	storetest.Plant(t, folder+"/"+e.name)
	_, err = q.Entries()
	rig.Check(t, err != nil, "a link is followed")
}

// One that cannot be removed keeps the others from nothing.
func TestRestIsRemoved(t *testing.T) {
	t.Parallel()
	q, folder := inFolder(t)
	first, second, third := add(t, q, "first", Waiting), add(t, q, "second", Waiting), add(t, q, "third", Waiting)
	storetest.Must(os.Remove(folder + "/" + second.name))
	gone, err := q.removeAll([]Entry{first, second, third})
	rig.Check(t, errors.Is(err, fs.ErrNotExist) && len(gone) == 2 && gone[0].ID == first.ID && gone[1].ID == third.ID, "%+v, %v", gone, err)
}

// A name with ten digits would come before one with nine.
func TestPlacesEnd(t *testing.T) {
	t.Parallel()
	q, folder := inFolder(t)
	e := add(t, q, "mine", Waiting)
	content := storetest.Read(t, folder+"/"+e.name)
	for _, name := range []string{"alpha.1000000000.json", "alpha.000000000.json", "alpha.-00000001.json"} {
		storetest.Write(t, folder+"/"+name, content)
	}
	rig.Check(t, q.Newest() == e.name && texts(t, q) == "mine waiting", "%s is the newest of %s", q.Newest(), texts(t, q))
	storetest.Write(t, folder+"/alpha.999999999.json", content)
	_, err := q.Add(t.Context(), Entry{Text: "one more", State: Waiting})
	storetest.WantKind(t, "behind the last", err, fail.Conflict)
	storetest.WantHint(t, err, "rm ")
}

func TestOutboxIsBounded(t *testing.T) {
	t.Parallel()
	q, _ := inFolder(t)
	for i := range most {
		add(t, q, fmt.Sprint("unknown ", i), Unknown)
		add(t, q, fmt.Sprint("waiting ", i), Waiting)
	}
	_, err := q.Add(t.Context(), Entry{Text: "one more", State: Waiting})
	storetest.WantKind(t, "one more that waits", err, fail.Conflict)
	add(t, q, "one more", Unknown)
	got := texts(t, q)
	rig.Check(t, !strings.Contains(got, "unknown 0 ") && strings.Contains(got, "unknown 1 ") && strings.Contains(got, "waiting 0 "), "the oldest that came to nothing is forgotten: %.100s", got)
}

func TestOneDelivers(t *testing.T) {
	t.Parallel()
	q, _ := inFolder(t)
	unlock, err := q.AwaitTurn(t.Context(), time.Now())
	if unlock == nil || err != nil {
		t.Fatal(err)
	}
	second, err := q.AwaitTurn(t.Context(), time.Now())
	rig.Check(t, second == nil && err == nil, "two deliver, %v", err)
	time.AfterFunc(20*time.Millisecond, unlock)
	if unlock, err = q.AwaitTurn(t.Context(), time.Now().Add(time.Minute)); unlock == nil || err != nil {
		t.Fatalf("who waits for its turn does not get it: %v", err)
	}
	unlock()
	if unlock, err = q.AwaitTurn(t.Context(), time.Now()); unlock == nil || err != nil {
		t.Errorf("after it nobody does: %v", err)
	} else {
		unlock()
	}
}
