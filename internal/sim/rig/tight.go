package rig

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// Tight is for TestMain: it runs the tests, and fails when they leave goroutines or open descriptors in this process.
// A launcher runs for weeks: a leak at each turn would add up.
func Tight(m interface{ Run() int }) int {
	before := descriptors()
	code := m.Run()
	if fuzzing := flag.Lookup("test.fuzz"); code != 0 || fuzzing != nil && fuzzing.Value.String() != "" {
		return code
	}
	var left []string
	if ok, _ := poll(patience, func() (bool, string) {
		left = append(goroutines(), opened(before)...)
		return len(left) == 0, ""
	}); ok {
		return 0
	}
	fmt.Fprintf(os.Stderr, "FAIL: the tests left behind:\n%s\n", strings.Join(left, "\n"))
	return 1
}

// goroutines are the stacks of all goroutines but the caller's and those of os/signal, which Go keeps.
func goroutines() []string {
	stacks := make([]byte, 1<<20)
	stacks = stacks[:runtime.Stack(stacks, true)]
	var left []string
	for i, stack := range strings.Split(string(stacks), "\n\n") {
		if i == 0 || strings.Contains(stack, "os/signal.signal_recv") || strings.Contains(stack, "os/signal.loop") {
			continue
		}
		left = append(left, stack)
	}
	return left
}

// descriptors are this process's open files, by number.
func descriptors() map[string]string {
	links, _ := filepath.Glob("/proc/self/fd/*") // the pattern is constant and well formed
	open := map[string]string{}
	for _, link := range links {
		if target, err := os.Readlink(link); err == nil { // an error: the descriptor by which Glob read the folder, closed by now
			open[link] = target
		}
	}
	return open
}

// opened are the descriptors that were not there before, without those of Go's poller.
func opened(before map[string]string) []string {
	var left []string
	for link, target := range descriptors() {
		if strings.HasSuffix(target, "/testlog.txt") { // go test's own; a second run of the tests opens it again
			continue
		}
		if before[link] != target && target != "anon_inode:[eventpoll]" && target != "anon_inode:[eventfd]" {
			left = append(left, link+" -> "+target)
		}
	}
	return left
}
