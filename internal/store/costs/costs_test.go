package costs

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/sim/rig"
	"nbs-worker/internal/store/private"
)

var noon = time.Date(2026, 2, 20, 12, 0, 0, 0, time.UTC)

// What Claude shows is counted once, whatever its total does at a resume, a /clear and a fork.
func TestTake(t *testing.T) {
	t.Parallel()
	type step struct {
		talk        string
		total, want float64
	}
	for name, steps := range map[string][]step{
		"turns":                            {{"a", 0, 0}, {"a", 2, 2}, {"a", 2, 0}, {"a", 3, 1}},
		"a resume that goes on":            {{"a", 0, 0}, {"a", 2, 2}, {"a", 2, 0}, {"a", 3, 1}},
		"a resume that begins at zero":     {{"a", 0, 0}, {"a", 2, 2}, {"a", 0, 0}, {"a", 0.5, 0.5}, {"a", 0.75, 0.25}},
		"a turn that only the next showed": {{"a", 0, 0}, {"a", 2, 2}, {"a", 2.5, 0.5}},
		"a clear that begins at zero":      {{"a", 0, 0}, {"a", 2, 2}, {"b", 0, 0}, {"b", 1, 1}},
		"a clear that goes on":             {{"a", 0, 0}, {"a", 2, 2}, {"b", 2, 0}, {"b", 3, 1}},
		"back to an earlier conversation":  {{"a", 0, 0}, {"a", 2, 2}, {"b", 0, 0}, {"b", 1, 1}, {"a", 2, 0}, {"a", 3, 1}},
		"a fork, or a ledger that was not": {{"b", 5, 0}, {"b", 6, 1}},
	} {
		var l Ledger
		sum := 0.0
		for i, s := range steps {
			got := l.Take(Reading{SessionID: agent.SessionID(s.talk), TotalUSD: s.total, At: noon})
			rig.Check(t, math.Abs(got-s.want) < 1e-9, "%s, step %d: %v, want %v", name, i, got, s.want)
			sum += s.want
		}
		rig.Check(t, math.Abs(l.Since(noon)-sum) < 1e-9, "%s: %v in all, want %v", name, l.Since(noon), sum)
	}
}

// Expenses are told apart by quarters of an hour, and after some weeks by days; no cent is lost.
func TestSince(t *testing.T) {
	t.Parallel()
	var l Ledger
	for i := range 100 * 24 * 4 {
		l.add(noon.Add(time.Duration(i)*Quarter+time.Minute), 0.25)
	}
	last := noon.Add(100*24*time.Hour - Quarter)
	rig.Check(t, l.Since(time.Time{}) == 2400 && l.Since(last) == 0.25 && l.Since(last.Add(-time.Hour)) == 1.25, "%v", l.Since(last))
	rig.Check(t, l.Since(last.Add(-30*24*time.Hour)) == (30*24*4+1)*0.25, "thirty days: %v", l.Since(last.Add(-30*24*time.Hour)))
	rig.Check(t, len(l.Expenses) < 41*24*4+100, "%d expenses", len(l.Expenses))
	l.add(noon, 1) // the clock was set back
	rig.Check(t, l.Since(time.Time{}) == 2401 && l.Expenses[len(l.Expenses)-1].USD == 1.25, "%v", l.Since(time.Time{}))
}

// An agent's ledger survives its rename and its dismissal, and the next agent of its handle begins with an empty one.
func TestLedgersOfRenamedAndDismissedAgents(t *testing.T) {
	t.Parallel()
	d, _ := inFolder(t)
	take := func(handle agent.Handle, total float64) {
		_, _, err := d.Take(t.Context(), handle, Reading{SessionID: "a", TotalUSD: total, At: noon})
		rig.Must(t, err)
	}
	take("Alpha", 1)
	take("alpha", 3)
	for range 2 { // a killed rename is repeated
		rig.Must(t, d.Rename(t.Context(), "alpha", "beta", noon))
	}
	l, err := d.Of("beta")
	rig.Check(t, err == nil && l.Handle == "beta", "%q, %v", l.Handle, err)
	take("beta", 4)
	rig.Must(t, d.Close(t.Context(), "beta", noon))
	rig.Must(t, d.Close(t.Context(), "gamma", noon)) // has spent nothing
	take("beta", 0)
	take("beta", 7)
	all, err := d.All()
	rig.Must(t, err)
	rig.Check(t, len(all) == 2 && all[0].Closed != all[1].Closed, "%+v", all)
	sum := 0.0
	for _, one := range all {
		sum += one.Since(time.Time{})
	}
	rig.Check(t, sum == 3+7, "%v", sum)
}

// A damaged ledger is an error that names it, and hides no other.
func TestDamagedLedger(t *testing.T) {
	t.Parallel()
	d, folder := inFolder(t)
	_, _, err := d.Take(t.Context(), "alpha", Reading{SessionID: "a", At: noon})
	rig.Must(t, err)
	for _, text := range []string{"", "{", `{"handle":"../x"}`, `{"handle":"beta","expenses":[{"at":"2026-02-20T12:00:00Z","usd":-1}]}`, `{"handle":"beta","expenses":[{"usd":1,"at":"2026-02-20T12:00:00Z"},{"usd":1,"at":"2026-02-20T12:00:00Z"}]}`} {
		rig.Must(t, os.WriteFile(filepath.Join(folder, Folder, "beta.json"), []byte(text), 0o600))
		_, err := d.Of("beta")
		rig.Check(t, err != nil && strings.Contains(err.Error(), "beta.json"), "%q: %v", text, err)
		all, err := d.All()
		rig.Check(t, err == nil && len(all) == 2 && all[0].Err == nil && all[1].Err != nil && all[1].Handle == "beta", "%q: %+v, %v", text, all, err)
	}
}

func inFolder(t *testing.T) (d *Drawer, folder string) {
	t.Helper()
	folder = filepath.Join(t.TempDir(), ".nbs")
	for _, name := range []string{"", Folder, private.Locks} {
		rig.Must(t, os.MkdirAll(filepath.Join(folder, name), 0o700))
	}
	nbs, err := private.OpenFolder(folder)
	rig.Must(t, err)
	return In(nbs, func() error { return nil }), folder
}
