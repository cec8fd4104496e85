package bench

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// tracer is what counts processes: nothing else sees them all.
const tracer = "strace"

// countProcesses runs each verb once in a small world in which every process is traced, those of the tmux server too.
func countProcesses(ctx context.Context, opts Options) (verbs []Verb, err error) {
	traces, err := os.MkdirTemp("", "nbsbt")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(traces) }() // a temporary folder
	server := filepath.Join(traces, "server")
	w, err := newWorld(ctx, opts, "", tracing(server)...)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, w.end(ctx)) }()
	const agents = 3
	if err := w.grow(ctx, 0, agents); err != nil {
		return nil, err
	}
	quiet := leastQuiet
	before, err := settledFile(ctx, server, quiet)
	if err != nil {
		return nil, err
	}
	for _, args := range [][]string{
		{"spawn", probe}, {"list"}, {"session", probe}, {"stop", probe}, {"resume", probe}, {"dismiss", probe},
	} {
		own := filepath.Join(traces, args[0])
		took, _, err := measure(w.command(ctx, slices.Concat(tracing(own), w.nbs(args...))...))
		if err != nil {
			return nil, err
		}
		quiet = max(quiet, 2*took) // of a slow machine
		after, err := settledFile(ctx, server, quiet)
		if err != nil {
			return nil, err
		}
		verb, err := countOne(args[0], own, after[len(before):])
		if err != nil {
			return nil, err
		}
		verbs, before = append(verbs, verb), after
	}
	return verbs, nil
}

// countOne counts what is in a verb's trace. What the tmux server starts for the verb is not the verb's child: it is in
// the server's trace.
func countOne(name, own, byServer string) (Verb, error) {
	byVerb, err := os.ReadFile(own)
	if err != nil {
		return Verb{}, err
	}
	verb := readTrace(string(byVerb))
	verb.add(readTrace(byServer))
	verb.Name = name
	return verb, nil
}

// tracing is the beginning of a command line that has a command's processes written into a file.
func tracing(file string) []string {
	return []string{tracer, "-f", "-qq", "-s", "256", "-e", "signal=none", "-e", "trace=execve,clone,clone3,fork,vfork", "-o", file}
}

func canTrace() bool {
	_, err := exec.LookPath(tracer)
	return err == nil
}

// leastQuiet is how long nothing must be started until all that belongs to a verb has been.
const leastQuiet = 300 * time.Millisecond

// settledFile reads a file once nothing was added to it for a while.
func settledFile(ctx context.Context, path string, quiet time.Duration) (string, error) {
	var last string
	since := time.Now()
	err := eventually(ctx, "nothing is started any more", func() bool {
		data, err := os.ReadFile(path)
		if err != nil || string(data) != last {
			last, since = string(data), time.Now()
		}
		return time.Since(since) > quiet
	})
	return last, err
}

func (v *Verb) add(other Verb) {
	v.Tmux += other.Tmux
	v.Others += other.Others
}

var (
	traceLine = regexp.MustCompile(`^(\d+) +(?:<\.\.\. )?(execve|clone3?|v?fork)\b(.*)$`)
	returned  = regexp.MustCompile(`= (\d+)(?: <[^>]*>)?$`)
	program   = regexp.MustCompile(`^\("([^"]*)"`)
)

// readTrace counts the processes in what strace -f wrote. Threads do not count. A call during which another process ran
// is on two lines, the first with its arguments and the second with its result.
func readTrace(trace string) Verb {
	var verb Verb
	begun := map[string]string{} // the arguments of a process's unfinished call
	for line := range strings.Lines(trace) {
		m := traceLine.FindStringSubmatch(strings.TrimRight(line, "\n"))
		if m == nil {
			continue
		}
		pid, call, rest := m[1], m[2], m[3]
		if strings.HasSuffix(rest, "<unfinished ...>") {
			begun[pid] = rest
			continue
		}
		result := returned.FindStringSubmatch(rest)
		rest = begun[pid] + rest
		delete(begun, pid)
		switch {
		case result == nil || strings.Contains(rest, "CLONE_THREAD"):
		case call == "execve":
			if name := program.FindStringSubmatch(rest); name != nil && filepath.Base(name[1]) == "tmux" {
				verb.Tmux++
			}
		default:
			verb.Others++
		}
	}
	verb.Others -= verb.Tmux // the processes that became tmux are counted in both
	return verb
}

// checkList checks that list starts exactly one tmux process.
func checkList(verbs []Verb) Check {
	check := Check{Name: "`list`: tmux processes", Budget: "exactly 1", Measured: "not counted: " + tracer + " is not installed", Missed: true}
	for _, verb := range verbs {
		if verb.Name == "list" {
			check.Measured, check.Missed = strconv.Itoa(verb.Tmux), verb.Tmux != 1
		}
	}
	return check
}
