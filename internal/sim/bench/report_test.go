package bench

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"nbs-worker/internal/sim/rig"
)

func TestStats(t *testing.T) {
	var series []time.Duration
	for i := range 100 {
		series = append(series, time.Duration(100-i)*time.Millisecond)
	}
	diff := cmp.Diff(Stats{Samples: 100, Min: 1, Median: 50.5, P95: 95}, newStats(series))
	rig.Check(t, diff == "", "-want +got:\n%s", diff)
	got := newStats(series[:1])
	rig.Check(t, got.Median == 100 && got.P95 == 100, "one sample: %+v", got)
}

// example has a row that holds its budget, one that misses it and one that has none.
func example() Result {
	pair := func(name string, agents int, floor, ours float64, budget Budget) Pair {
		return Pair{Name: name, Beside: "`tmux`", Agents: agents, Floor: Stats{Median: floor, Samples: 30}, Ours: Stats{Median: ours, Samples: 200}, Budget: budget}
	}
	return Result{
		Taken: time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC),
		Pairs: byName([]Pair{
			pair("`list`", 1, 2, 5, Budget{}), pair("`spawn`", 1, 5, 19, Budget{Plus: 15}), pair("`list`", 1001, 20, 105, Budget{Times: 2}),
		}),
		Checks: []Check{{Name: "wake-ups", Measured: "7", Budget: "none", Missed: true}},
		Verbs:  []Verb{{Name: "list", Tmux: 1, Others: 1}},
	}
}

func TestAMissIsShown(t *testing.T) {
	text := example().Markdown()
	for _, want := range []string{
		"| `list` | 1 | `tmux` | 2.0 | 5.0 | 2.5 x, +3.0 ms | - | - |",
		"| `list` | 1,001 | `tmux` | 20.0 | 105.0 | 5.2 x, +85.0 ms | 2 x | missed |",
		"| `spawn` | 1 | `tmux` | 5.0 | 19.0 | 3.8 x, +14.0 ms | + 15 ms | held |",
		"| wake-ups | - | - | - | 7 | - | none | missed |",
		"`list` 100 (its floor 18)",
		"`list` 1 + 1",
		"Medians of 200 samples",
	} {
		rig.Check(t, strings.Contains(text, want), "no %q in\n%s", want, text)
	}
	got := example().Missed()
	rig.Check(t, slices.Equal(got, []string{"`list`, 1,001 agents", "wake-ups"}), "missed = %q", got)
}

func TestABusyMachineIsNoted(t *testing.T) {
	for load, busy := range map[string]bool{"0.90 8.00 8.00": false, "1.10 0.00 0.00": true, "": false} {
		got := strings.Contains(Machine{Cores: 2, Load: load}.String(), "busy")
		rig.Check(t, got == busy, "load %q: busy = %v", load, got)
	}
}

func TestKernelIsNamedShortly(t *testing.T) {
	for release, want := range map[string]string{"6.1.0-18-amd64": "6.1", "6.18": "6.18", "": ""} {
		rig.Equal(t, shortRelease(release), want, "%q is named", release)
	}
}

func TestTableGoesBetweenTheMarkers(t *testing.T) {
	dir := t.TempDir()
	readme, kept := filepath.Join(dir, "README.md"), filepath.Join(dir, "build", "bench.json")
	rig.Must(t, os.WriteFile(readme, []byte("before\n<!-- bench -->\nold\n<!-- /bench -->\nafter\n"), 0o600))
	rig.Must(t, example().Save(kept))
	result, err := Load(kept)
	rig.Must(t, err)
	for range 2 { // doing it again changes nothing
		rig.Must(t, result.PutInto(readme))
	}
	want := "before\n<!-- bench -->\n\n" + example().Markdown() + "\n<!-- /bench -->\nafter\n"
	if got, err := os.ReadFile(readme); err != nil || string(got) != want {
		t.Errorf("%v\n%s", err, cmp.Diff(want, string(got)))
	}
	rig.Must(t, os.WriteFile(readme, []byte("<!-- /bench -->\n<!-- bench -->\n"), 0o600))
	err = result.PutInto(readme)
	rig.Check(t, err != nil, "markers in the wrong order were taken")
}

func TestThisReadmeHasTheMarkers(t *testing.T) {
	text, err := os.ReadFile("../../../README.md")
	rig.Must(t, err)
	_, err = between(string(text), "table\n")
	rig.Check(t, err == nil, "%v", err)
}

// Threads are no processes, and a call may stand on two lines.
func TestTraceIsCounted(t *testing.T) {
	verb := readTrace(`10 execve("/x/nbs-worker", ["nbs-worker", "list"], 0x7ffe /* 9 vars */) = 0
10 clone(child_stack=0xc000, flags=CLONE_VM|CLONE_FS|CLONE_THREAD|CLONE_SYSVSEM) = 11
10 clone(child_stack=NULL, flags=CLONE_VM|CLONE_PIDFD|CLONE_VFORK|SIGCHLD <unfinished ...>
12 exit_group(0) = ?
10 <... clone resumed>, parent_tid=[7]) = 12
11 clone3({flags=CLONE_VM|CLONE_VFORK, exit_signal=SIGCHLD, stack=NULL}, 88 <unfinished ...>
13 execve("/nowhere/tmux", ["tmux"], 0x1 /* 9 vars */) = -1 ENOENT (No such file or directory)
13 execve("/usr/bin/tmux", ["tmux", "-u", "list-panes"], 0x1 /* 9 vars */ <unfinished ...>
11 <... clone3 resumed>) = 13
13 <... execve resumed>) = 0
10 clone3({flags=CLONE_VM|CLONE_THREAD, stack=0x7f} => {parent_tid=[14]}, 88) = 14
10 vfork() = -1 EAGAIN (Resource temporarily unavailable)
`)
	rig.Check(t, verb.Tmux == 1 && verb.Others == 1, "%+v", verb)
}

func TestInitsAreRead(t *testing.T) {
	got := readInits("init internal/bytealg @0.004 ms, 0 ms clock, 0 bytes, 0 allocs\nnoise\ninit a/b @0.6 ms, 0.073 ms clock, 9512 bytes, 12 allocs\n")
	want := []Init{{Package: "internal/bytealg"}, {Package: "a/b", Took: 0.073, Bytes: 9512}}
	diff := cmp.Diff(want, got)
	rig.Check(t, diff == "", "-want +got:\n%s", diff)
}
