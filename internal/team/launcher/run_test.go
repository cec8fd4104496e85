package launcher

import (
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"nbs-worker/internal/claude/cmdline"
	"nbs-worker/internal/platform/machine/local"
	"nbs-worker/internal/sim/rig"
	"nbs-worker/internal/store"
	"nbs-worker/internal/team/observe"
)

// launchOf leaves the launch of a program in the place of claude.
func launchOf(t *testing.T, s *store.Store, script string) store.Launch {
	t.Helper()
	program := filepath.Join(t.TempDir(), "claude")
	rig.WriteProgram(t, program, "#!/bin/sh\n"+script+"\n")
	launch := store.Launch{Invocation: start, Claude: program, Opening: string(cmdline.OpenNew), Env: os.Environ()}
	rig.Must(t, s.PutLaunch("alpha", launch))
	return launch
}

// Nothing stays behind of a start: no goroutine, and no second delivery of a signal.
func TestASecondChildFindsNothingOfTheFirst(t *testing.T) { //nolint:paralleltest // signals are the process's
	s := newProject(t)
	record := moveAlpha(t, s, alphaID)
	launch := launchOf(t, s, "exec sleep 60")
	l := &Launcher{Machine: local.New(), Store: s, Now: time.Now}
	signals := make(chan os.Signal, 16)
	defer signal.Stop(signals)
	catch(signals) // the first one starts a goroutine of os/signal
	before := runtime.NumGoroutine()
	for range 2 {
		looks := make(chan struct{}, 2) // the end of the first child may be one more
		c, err := l.startChild(&record, launch, func(bool) bool { looks <- struct{}{}; return false }, signals)
		rig.Must(t, err)
		rig.Must(t, unix.Kill(os.Getpid(), observe.FollowSignal))
		<-looks
		err = c.takeBack()
		rig.Check(t, err == nil, "%v", err)
		rig.Eventually(t, "the child's goroutines to end", func() bool { return runtime.NumGoroutine() <= before })
	}
}

// A terminal that changes its size, as it does a hundred times while somebody drags its border,
// has nobody look at the record.
func TestWindowSizeIsNotCaught(t *testing.T) { //nolint:paralleltest // signals are the process's
	signals := make(chan os.Signal, 16)
	defer signal.Stop(signals)
	catch(signals)
	const last = unix.SIGIO // signals that wait together arrive by their numbers
	signal.Notify(signals, last)
	for _, sig := range []unix.Signal{unix.SIGWINCH, observe.FollowSignal, last} {
		rig.Must(t, unix.Kill(os.Getpid(), sig))
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
