package launcher

import (
	"errors"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/claude"
	"nbs-worker/internal/observe"
	"nbs-worker/internal/sim/rig"
	"nbs-worker/internal/store"
)

// launchOf leaves the launch of a program in the place of claude.
func launchOf(t *testing.T, s *store.Store, script string) store.Launch {
	t.Helper()
	program := filepath.Join(t.TempDir(), "claude")
	if err := os.WriteFile(program, []byte("#!/bin/sh\n"+script+"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	launch := store.Launch{Invocation: start, Claude: program, Opening: string(claude.OpenNew), Env: os.Environ()}
	if err := s.PutLaunch("alpha", launch); err != nil {
		t.Fatal(err)
	}
	return launch
}

// What a policy has started again is a start like the first: it needs its own name in the
// record, holds the conversation, and its exit is noted.
func TestRunStartsAgainForAsLongAsThePolicySaysSo(t *testing.T) { //nolint:paralleltest // signals are the process's
	s := newProject(t)
	moveAlpha(t, s, alphaID)
	launchOf(t, s, "exit 7")
	l := &Launcher{Store: s, Now: time.Now}
	var held []bool
	l.policy = func(r *agent.Record, last store.Launch) *store.Launch {
		_, leased := s.LeaseHolder(alphaID)
		held = append(held, leased)
		if len(r.Exits) == 2 {
			return nil
		}
		last.Invocation = later
		if _, err := s.Update(t.Context(), "alpha", func(r *agent.Record) error { r.Process.Invocation = later; return nil }); err != nil {
			t.Error(err)
		}
		return &last
	}
	if code, err := l.Run(t.Context(), "alpha", start); code != 7 || err != nil {
		t.Errorf("Run = %d, %v; want 7", code, err)
	}
	r, err := s.Load("alpha")
	if err != nil {
		t.Fatal(err)
	}
	var ended []agent.Invocation
	for _, exit := range r.Exits {
		ended = append(ended, exit.Invocation)
	}
	if diff := cmp.Diff([]agent.Invocation{start, later}, ended); diff != "" {
		t.Errorf("exits: -want +got:\n%s", diff)
	}
	if diff := cmp.Diff([]bool{false, false}, held); diff != "" {
		t.Errorf("the conversation is held between two starts: -want +got:\n%s", diff)
	}
	if told := events(t, s); told["start"] != 2 || told["exit"] != 2 {
		t.Errorf("the journal has %v; want two starts and two exits", told)
	}
}

// A policy that starts again what another command has taken over comes to nothing.
func TestRunStartsNothingTheRecordDoesNotName(t *testing.T) { //nolint:paralleltest // signals are the process's
	s := newProject(t)
	moveAlpha(t, s, alphaID)
	launchOf(t, s, "exit 7")
	l := &Launcher{Store: s, Now: time.Now}
	l.policy = func(_ *agent.Record, last store.Launch) *store.Launch {
		last.Invocation = later
		return &last
	}
	if _, err := l.Run(t.Context(), "alpha", start); !errors.Is(err, agent.ErrSuperseded) {
		t.Errorf("Run = %v; want %q", err, agent.ErrSuperseded)
	}
	if r, err := s.Load("alpha"); err != nil || len(r.Exits) != 1 {
		t.Errorf("exits: %+v, %v; want that of the first start", r.Exits, err)
	}
}

// Nothing stays behind of a start: no goroutine, and no second delivery of a signal.
func TestASecondChildFindsNothingOfTheFirst(t *testing.T) { //nolint:paralleltest // signals are the process's
	s := newProject(t)
	record := moveAlpha(t, s, alphaID)
	launch := launchOf(t, s, "exec sleep 60")
	l := &Launcher{Store: s, Now: time.Now}
	signals := make(chan os.Signal, 16)
	defer signal.Stop(signals)
	catch(signals) // the first one starts a goroutine of os/signal
	before := runtime.NumGoroutine()
	for range 2 {
		looks := make(chan struct{}, 2) // the end of the first child may be one more
		c, err := l.startChild(&record, launch, func() { looks <- struct{}{} }, signals)
		if err != nil {
			t.Fatal(err)
		}
		if err := unix.Kill(os.Getpid(), observe.FollowSignal); err != nil {
			t.Fatal(err)
		}
		<-looks
		if err := c.takeBack(); err != nil {
			t.Error(err)
		}
		rig.Eventually(t, "the child's goroutines to end", func() bool { return runtime.NumGoroutine() <= before })
	}
}

// A terminal that changes its size, as it does a hundred times while somebody drags its border,
// has nobody look at the record.
func TestWindowSizeIsNotCaught(t *testing.T) { //nolint:paralleltest // signals are the process's
	signals := make(chan os.Signal, 16)
	defer signal.Stop(signals)
	catch(signals)
	const last = unix.SIGPWR // signals that wait together arrive by their numbers
	signal.Notify(signals, last)
	for _, sig := range []unix.Signal{unix.SIGWINCH, observe.FollowSignal, last} {
		if err := unix.Kill(os.Getpid(), sig); err != nil {
			t.Fatal(err)
		}
	}
	for sig := range signals {
		switch sig {
		case unix.SIGWINCH:
			t.Error("it is caught")
		case last:
			return
		}
	}
}
