package requests

import (
	"os"
	"strings"
	"testing"
	"time"

	"nbs-worker/internal/fail"
	"nbs-worker/internal/platform/fswatch"
	"nbs-worker/internal/sim/rig"
	"nbs-worker/internal/store/private"
)

func drawer(t *testing.T) *Drawer { return In(private.Tree(t.TempDir() + "/requests")) }

func TestARequestIsOpenWhileItsHookWaits(t *testing.T) {
	t.Parallel()
	d := drawer(t)
	w, err := d.Open(Request{Handle: "alpha", Tool: "Bash", Input: []byte(`{"command":"ls"}`)})
	rig.Must(t, err)
	open, err := d.List()
	rig.Check(t, err == nil && len(open) == 1 && open[0].ID == w.ID && open[0].Tool == "Bash", "%+v, %v", open, err)
	_ = w.lock.Close() // as if the hook was killed
	open, err = d.List()
	rig.Check(t, err == nil && len(open) == 0, "%+v, %v", open, err)
	rig.Check(t, fail.KindOf(d.Give(w.ID, Answer{Allow: true})) == fail.NotFound, "an answer to what is over is taken")
	names, err := d.tree.Names()
	rig.Check(t, err == nil && len(names) == 0, "left: %q, %v", names, err)
}

func TestTheFirstAnswerCounts(t *testing.T) {
	t.Parallel()
	d := drawer(t)
	w, err := d.Open(Request{Handle: "alpha", Tool: "Bash"})
	rig.Must(t, err)
	_, there, err := w.Answer()
	rig.Check(t, !there && err == nil, "%v, %v", there, err)
	rig.Must(t, d.Give(w.ID, Answer{Allow: true, By: "ann"}))
	err = d.Give(w.ID, Answer{By: "bob"})
	rig.Check(t, fail.KindOf(err) == fail.Conflict, "%v", err)
	fate, _ := d.FateOf(w.ID)
	rig.Check(t, fate == Answered, "fate %d", fate)
	a, there, err := w.Answer()
	rig.Check(t, there && err == nil && a.Allow && a.By == "ann", "%+v, %v", a, err)
	rig.Must(t, w.Take(a))
	w.Close()
	fate, a = d.FateOf(w.ID)
	rig.Check(t, fate == Taken && a.By == "ann", "fate %d, %+v", fate, a)
	err = d.put(w.ID, Answer{By: "bob"}) // who has seen it open before
	rig.Check(t, fail.KindOf(err) == fail.Conflict && strings.HasSuffix(err.Error(), ", by ann"), "%v", err)
}

// The first answer may have reached claude, although its hook was killed before it could note that.
func TestASecondAnswerToAKilledHookIsRefused(t *testing.T) {
	t.Parallel()
	d := drawer(t)
	w, err := d.Open(Request{Handle: "alpha", Tool: "Bash"})
	rig.Must(t, err)
	rig.Must(t, d.Give(w.ID, Answer{Allow: true, By: "ann"}))
	_ = w.lock.Close() // as if the hook was killed
	fate, _ := d.FateOf(w.ID)
	rig.Equal(t, fate, Gone, "fate")
	err = d.put(w.ID, Answer{By: "bob"}) // who has seen it open before
	rig.Check(t, fail.KindOf(err) == fail.Conflict && strings.HasSuffix(err.Error(), ", by ann"), "%v", err)
	d.Sweep(time.Now().Add(25 * time.Hour))
	names, err := d.tree.Names()
	rig.Check(t, err == nil && len(names) == 0, "left: %q, %v", names, err)
}

// To ask for what is gone changes nothing in the folder: who watches it would ask for ever.
func TestAGoneRequestIsAskedForWithoutATrace(t *testing.T) {
	t.Parallel()
	d := drawer(t)
	w, err := d.Open(Request{Handle: "alpha", Tool: "Bash"})
	rig.Must(t, err)
	w.Close()
	watch, err := fswatch.New()
	rig.Must(t, err)
	defer watch.Close()
	rig.Must(t, watch.Folder(d.Folder()))
	fate, _ := d.FateOf(w.ID)
	rig.Equal(t, fate, Gone, "fate")
	rig.Must(t, os.WriteFile(d.Folder()+"/last", nil, 0o600))
	rig.Equal(t, (<-watch.Events()).Name, d.Folder()+"/last", "the first change")
}

// What is no request of an agent is not listed: its texts would be printed as they are.
func TestARequestNamesAnAgent(t *testing.T) {
	t.Parallel()
	d := drawer(t)
	w, err := d.Open(Request{Handle: "\x1b[2Jalpha", Tool: "Bash"})
	rig.Must(t, err)
	defer w.Close()
	open, err := d.List()
	rig.Check(t, err == nil && len(open) == 0, "%+v, %v", open, err)
}
