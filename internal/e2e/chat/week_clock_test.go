package chat

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"nbs-worker/internal/app/cli"
	"nbs-worker/internal/app/cli/ui"
)

// clockVariable makes this test binary the program nbs-worker by another clock. It names a file with how far that clock
// is ahead, in nanoseconds.
const clockVariable = "NBS_TEST_CLOCK"

// playWorker is nbs-worker by the clock of a file; is reports whether that was asked for.
func playWorker() (code int, is bool) {
	file := os.Getenv(clockVariable)
	if file == "" {
		return 0, false
	}
	now := func() time.Time {
		text, err := os.ReadFile(file)
		ahead, wrong := strconv.ParseInt(string(text), 10, 64)
		if err != nil || wrong != nil {
			panic(fmt.Sprint(err, wrong))
		}
		return time.Now().Round(0).Add(time.Duration(ahead))
	}
	return cli.MainAt(now, os.Args[1:], ui.System()), true
}

// byClock has the team's commands run by a clock that set sets, in a time zone. It goes on from there as every clock does.
func (m *team) byClock(zone string) (set func(to time.Time)) {
	m.Helper()
	self, err := os.Executable()
	m.Must(err)
	file := filepath.Join(m.World.RunDir, "clock")
	m.Worker = self
	m.Env = append(m.Env, clockVariable+"="+file, "TZ="+zone)
	set = func(to time.Time) {
		m.Helper()
		whole := filepath.Join(m.World.RunDir, "clock.new")
		m.Must(os.WriteFile(whole, []byte(strconv.FormatInt(int64(time.Until(to)), 10)), 0o600))
		m.Must(os.Rename(whole, file))
	}
	set(time.Now())
	return set
}

// A clock that a test sets is that of the commands.
func TestWorkerByAnotherClock(t *testing.T) {
	m := standIn(t)
	set := m.byClock("Europe/Berlin")
	m.allowsSchedules("schedules:\n  night: {cron: \"30 2 * * *\", zone: Europe/Berlin, prompt: hello}\n")
	set(time.Date(2026, 3, 28, 23, 0, 0, 0, time.UTC))
	m.MustPrint("2026-03-29T01:00:00Z\tnight\n2026-03-30T00:30:00Z\tnight\n", "schedule", "next", "--count", "2")
}

// allowsSchedules writes a file of schedules, which its user allows.
func (m *team) allowsSchedules(text string) {
	m.Helper()
	m.OK("spawn", "none", "--dry-run")
	m.Write(filepath.Join(m.World.Project, ".nbs/schedules.yaml"), text)
	c := m.Console(m.Command([]string{"allow", "--schedules"}))
	c.MustShow("[y/N]")
	c.Types("y\n")
	m.Must(c.Cmd.Wait())
}
