package progress

import (
	"os"
	"strings"
	"testing"
	"time"

	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
	"nbs-worker/internal/sim/rig"
	"nbs-worker/internal/store/storetest"
	"nbs-worker/internal/store/storetest/nbs"
)

func TestMain(m *testing.M) { os.Exit(storetest.Main(m, nil)) }

// What was recorded is there for the next process; what was changed does not count.
func TestProgressIsKept(t *testing.T) {
	t.Parallel()
	d := In(nbs.New(t))
	got, err := d.Get()
	rig.Must(t, err)
	rig.Same(t, "nothing was recorded", Progress{}, got)
	want := Progress{Session: "sum", Since: "s1", At: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), Noted: []string{"!home:localhost"}}
	rig.Must(t, d.Put(want))
	got, err = d.Get()
	rig.Must(t, err)
	rig.Same(t, "the progress", want, got)
	info, err := os.Stat(d.Path())
	rig.Must(t, err)
	rig.Same(t, "the mode", os.FileMode(0o600), info.Mode())

	text := storetest.Read(t, d.Path())
	storetest.Write(t, d.Path(), strings.Replace(text, `"s1"`, `"s9"`, 1))
	_, err = d.Get()
	storetest.WantKind(t, "changed", err, fail.Held)
	storetest.WantHint(t, err, "look at it; without it the bridge begins with the next messages: rm "+human.ShellWord(d.Path()))
	storetest.Write(t, d.Path(), text[:len(text)/2])
	_, err = d.Get()
	storetest.WantKind(t, "cut", err, fail.Held)
}
