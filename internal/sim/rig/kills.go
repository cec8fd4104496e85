package rig

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// A program that changes files has many points at which it can be killed: before each system call of some kinds. A test
// takes a tenth of them, and the same ones each time. NBS_KILLS is another share, in percent, and NBS_KILLS_SEED chooses
// other points. make kills takes all of them.
const (
	shareVariable = "NBS_KILLS"
	seedVariable  = "NBS_KILLS_SEED"
)

// EveryKill reports whether all points are taken, so that each state between two of them is seen.
func EveryKill() bool { return os.Getenv(shareVariable) == "100" }

// Begin prepares a run of the program that is killed and returns its command. Check looks at what the run has left.
type Begin func() (cmd *exec.Cmd, check func(killed bool))

// EachKill kills a program before its first, second, ... system call of each kind, at a share of the points that there
// are, and lets it run to its end once for each kind. It returns the number of all points.
func EachKill(t testing.TB, calls []string, begin Begin) (points int) {
	t.Helper()
	return eachPoint(t, calls, begin, func(_ string, end syscall.WaitStatus) bool { return end.Signaled() })
}

// EachDeath is [EachKill] for a program that starts others: it kills the program, or one of those that it has started.
// A kind can be several calls, with commas between them.
func EachDeath(t testing.TB, calls []string, begin Begin) (points int) {
	t.Helper()
	return eachPoint(t, calls, begin, func(log string, _ syscall.WaitStatus) bool {
		return strings.Contains(log, "+++ killed by SIGKILL +++")
	})
}

func eachPoint(t testing.TB, calls []string, begin Begin, isKilled func(log string, end syscall.WaitStatus) bool) (points int) {
	t.Helper()
	Needs(t, "strace")
	trace := filepath.Join(t.TempDir(), "strace")
	// run kills before the n-th call, or never if n is 0.
	run := func(call string, n int) (log string, killed bool) {
		t.Helper()
		cmd, check := begin()
		out, end := traced(t, cmd, trace, call, n)
		text, err := os.ReadFile(trace)
		Must(t, err)
		killed = isKilled(string(text), end)
		if !killed && (end.Signaled() || end.ExitStatus() != 0) {
			t.Fatalf("not killed before %s number %d: exit code %d: %s", call, n, end.ExitStatus(), out)
		}
		check(killed)
		if t.Failed() {
			t.Fatalf("killed before %s number %d: %s", call, n, out)
		}
		return string(text), killed
	}
	kills := 0
	for _, call := range calls {
		log, _ := run(call, 0)
		all := most(log)
		points += all
		for _, n := range chosen(t, all) {
			killed := false
			// The calls of a run may be spread over more threads than those of the run that was counted.
			for at := n; !killed && at > 0; at-- {
				_, killed = run(call, at)
			}
			if killed {
				kills++
			}
		}
	}
	if kills == 0 {
		t.Fatal("nothing was killed: no such call was reached")
	}
	t.Logf("killed at %d of %d points", kills, points)
	return points
}

// traced runs a command under strace, which kills what makes the n-th call of a kind. strace counts the calls of each
// thread apart.
func traced(t testing.TB, cmd *exec.Cmd, trace, call string, n int) (out []byte, end syscall.WaitStatus) {
	t.Helper()
	args := []string{"-f", "-q", "-o", trace, "-e", "trace=" + call} // no --seccomp-bpf: see Tampered
	if n > 0 {
		args = append(args, "-e", fmt.Sprintf("inject=%s:signal=SIGKILL:when=%d", call, n))
	}
	strace := exec.Command("strace", slices.Concat(args, []string{cmd.Path}, cmd.Args[1:])...)
	strace.Env, strace.Dir, strace.Stdin = cmd.Env, cmd.Dir, cmd.Stdin
	out, err := strace.CombinedOutput()
	if strace.ProcessState == nil {
		t.Fatalf("%s: %v", strace, err)
	}
	return out, strace.ProcessState.Sys().(syscall.WaitStatus)
}

// most returns how many calls of one name the thread has made that has made most, by what strace has written.
func most(log string) (n int) {
	made := map[string]int{}
	for line := range strings.Lines(log) {
		if call, _, is := strings.Cut(line, "("); is && !strings.Contains(call, "<...") { // "<... write resumed>" was counted
			made[call]++
			n = max(n, made[call])
		}
	}
	return n
}

// chosen returns the numbers of the points at which this run kills. They are spread over all points.
func chosen(t testing.TB, all int) (points []int) {
	t.Helper()
	number := func(variable, standard string) int {
		n, err := strconv.Atoi(cmp.Or(os.Getenv(variable), standard))
		if err != nil || n < 1 {
			t.Fatalf("%s is not a number above 0: %v", variable, err)
		}
		return n
	}
	share, seed := min(number(shareVariable, "10"), 100), number(seedVariable, "1")
	take, rng := (all*share+99)/100, rand.New(rand.NewPCG(uint64(seed), uint64(all)))
	for i := range take {
		first, end := i*all/take, (i+1)*all/take
		points = append(points, 1+first+rng.IntN(end-first))
	}
	return points
}
