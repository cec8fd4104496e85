package launcher

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/sim/rig"
	"nbs-worker/internal/team/restart"
)

func TestClassOfAnEnd(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 2, 20, 12, 0, 0, 0, time.UTC)
	for what, c := range map[string]struct {
		exit   agent.Exit
		uptime time.Duration
		ready  bool
		failed string
		wrong  error
		want   agent.EndClass
	}{
		"killed":                     {agent.Exit{Code: -1, Signal: "killed"}, time.Hour, true, "", nil, agent.EndCrash},
		"killed at its limit":        {agent.Exit{Code: -1, Signal: "killed"}, time.Hour, true, "rate_limit", nil, agent.EndCrash},
		"its terminal is gone":       {agent.Exit{Code: 129, HungUp: true}, time.Hour, true, "", nil, agent.EndServer},
		"a code":                     {agent.Exit{Code: 1}, time.Hour, true, "", nil, agent.EndCrash},
		"somebody sent it TERM":      {agent.Exit{Code: 143}, time.Hour, true, "", nil, agent.EndCrash},
		"code 0":                     {agent.Exit{}, time.Hour, true, "", nil, agent.EndClean},
		"code 0 right after it came": {agent.Exit{}, 5 * time.Second, true, "", nil, agent.EndCrash},
		"code 0, never ready":        {agent.Exit{}, time.Hour, false, "", nil, agent.EndCrash},
		"/exit":                      {agent.Exit{EndReason: "prompt_input_exit"}, time.Hour, true, "", nil, agent.EndClean},
		"/exit right after it came":  {agent.Exit{EndReason: "prompt_input_exit"}, time.Second, true, "", nil, agent.EndClean},
		"limited":                    {agent.Exit{Code: 1}, time.Hour, true, "rate_limit", nil, agent.EndQuota},
		"limited at its start":       {agent.Exit{Code: 1, LastScreen: "Claude usage limit reached."}, time.Second, false, "", nil, agent.EndQuota},
		"not logged in":              {agent.Exit{Code: 1}, time.Hour, true, "authentication_failed", nil, agent.EndAuth},
		"not logged in at its start": {agent.Exit{Code: 1, LastScreen: "Invalid API key · Please run /login"}, time.Second, false, "", nil, agent.EndAuth},
		"it speaks of logins":        {agent.Exit{Code: 1, LastScreen: "● Please run /login is what you do."}, time.Hour, true, "", nil, agent.EndCrash},
		"as root":                    {agent.Exit{Code: 1, LastScreen: "--dangerously-skip-permissions cannot be used with root/sudo privileges for security reasons"}, time.Second, false, "", nil, agent.EndConfig},
		"its conversation is gone":   {agent.Exit{Code: 1, LastScreen: "No conversation found with session ID: x"}, time.Second, false, "", nil, agent.EndConfig},
		"not alone":                  {agent.Exit{Code: -1, Signal: "killed"}, time.Second, true, "", fail.Errorf(fail.Conflict, "x"), agent.EndConflict},
		"not what is recorded":       {agent.Exit{Code: -1, Signal: "killed"}, time.Second, true, "", errors.New("x"), agent.EndConfig},
	} {
		e := evidence{exit: c.exit, uptime: c.uptime, ready: c.ready, readyAfter: time.Second, wrong: c.wrong, now: now}
		if !c.ready {
			e.readyAfter = 0
		}
		if c.failed != "" {
			e.failure = &agent.Failure{Class: c.failed}
		}
		end := e.ending()
		rig.Check(t, end.Class == c.want && end.Reason != "", "%s: %+v; want %s", what, end, c.want)
	}
}

func TestAUsageLimitIsLiftedWhenItsScreenSays(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 2, 20, 12, 0, 0, 0, time.UTC)
	e := evidence{exit: agent.Exit{Code: 1, LastScreen: "You've hit your session limit · resets 3:30pm (UTC)"}, uptime: time.Second, now: now}
	end := e.ending()
	rig.Check(t, end.Class == agent.EndQuota && end.Until.Equal(now.Add(3*time.Hour+30*time.Minute)), "%+v", end)
}

// Where the screen names no time, the used-up limit on the status line does.
func TestAUsageLimitIsLiftedWhenTheStatusLineSays(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 2, 20, 12, 0, 0, 0, time.UTC)
	limits := &agent.Limits{FiveHour: &agent.Limit{UsedPercent: 100, ResetsAt: now.Add(2 * time.Hour)}, SevenDay: &agent.Limit{UsedPercent: 60, ResetsAt: now.Add(90 * time.Hour)}}
	for words, want := range map[string]time.Duration{"Claude usage limit reached.": 2 * time.Hour, "You've hit your session limit · resets 3:30pm (UTC)": 3*time.Hour + 30*time.Minute} {
		e := evidence{exit: agent.Exit{Code: 1, LastScreen: words}, uptime: time.Second, limits: limits, now: now}
		end := e.ending()
		rig.Check(t, end.Class == agent.EndQuota && end.Until.Equal(now.Add(want)), "%s: %+v", words, end)
	}
}

func TestForHowLongItWasReady(t *testing.T) {
	t.Parallel()
	e := evidence{exit: agent.Exit{Code: 1}, uptime: time.Minute, ready: true, readyAfter: 10 * time.Second}
	end := e.ending()
	rig.Check(t, end.Ready == 50*time.Second && !end.Abnormal, "%+v", end)
	e.exit = agent.Exit{Code: 143}
	end = e.ending()
	rig.Check(t, end.Abnormal, "%+v", end)
}

// A machine without room is no reason to hold an agent, nor is a program that is just being updated.
func TestClassOfAStartThatFailed(t *testing.T) {
	t.Parallel()
	program := filepath.Join(t.TempDir(), "claude")
	rig.Must(t, os.WriteFile(program, nil, 0o700))
	for cause, want := range map[error]agent.EndClass{
		unix.EAGAIN: agent.EndCrash, unix.ENOMEM: agent.EndCrash, unix.ETXTBSY: agent.EndCrash,
		unix.ENOENT: agent.EndCrash, unix.ENOEXEC: agent.EndCrash, unix.EACCES: agent.EndConfig, unix.E2BIG: agent.EndConfig,
	} {
		err := startFailure(&os.PathError{Op: "fork/exec", Path: program, Err: cause}, program, t.TempDir())
		rig.Equal(t, classOf(err), want, "%v", err)
	}
	rig.Must(t, os.Chmod(program, 0o600)) // it is being installed
	rig.Equal(t, classOf(startFailure(unix.EACCES, program, t.TempDir())), agent.EndCrash, "the class")
}

// A program that is gone is waited for longer each time, for two minutes: then a person has to look.
func TestAProgramThatIsGoneIsWaitedFor(t *testing.T) {
	t.Parallel()
	var kept agent.Restarts
	var waited time.Duration
	end, now := refused(startFailure(unix.ENOENT, "/opt/claude", t.TempDir())), time.Now()
	rig.Check(t, strings.Contains(end.Reason, "/opt/claude"), "%s", end.Reason)
	for range restart.Limit - 1 {
		next := restart.Decide(agent.RestartOnFailure, kept, end, now, 0.5)
		rig.Check(t, next.Again && next.In > waited/2, "after %s: %+v", waited, next)
		waited += next.In
		kept, now = next.Restarts, now.Add(next.In)
	}
	last := restart.Decide(agent.RestartOnFailure, kept, end, now, 0.5)
	rig.Check(t, waited > 90*time.Second && !last.Again && last.Restarts.Hold != nil, "after %s: %+v", waited, last)
}

// However long a machine has no room, its agents are started when it has again.
func TestAMachineWithoutRoomIsWaitedFor(t *testing.T) {
	t.Parallel()
	for _, cause := range []error{unix.EAGAIN, unix.ENOMEM, unix.ETXTBSY} {
		var kept agent.Restarts
		end, now := refused(startFailure(cause, "/usr/bin/claude", t.TempDir())), time.Now()
		for n := range 2 * restart.Limit {
			next := restart.Decide(agent.RestartOnAbnormal, kept, end, now, 0)
			if !next.Again || len(next.Restarts.Counted) != 0 {
				t.Fatalf("%v, start %d: %+v", cause, n, next)
			}
			kept, now = next.Restarts, now.Add(next.In)
		}
	}
}
