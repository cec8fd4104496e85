package dash

import (
	"strings"
	"testing"
	"time"

	"nbs-worker/internal/sim/rig"
)

const listUsage = "list --json --usage"

// What agents use of a host is shown when the screen asks for it, and processor time from the second measurement on.
func TestWhatAgentsUseOfAHost(t *testing.T) {
	t.Parallel()
	d := newDistant()
	d.become(nil, "list --json", "["+aliceBusy+","+bobIdle+"]",
		listUsage, `[{"handle":"alice","usage":{"rss_bytes":1048576,"cpu_seconds":10}},{"handle":"bob"}]`)
	f := dashboard(t, d, t.TempDir())
	defer f.Close()
	f.until(t, func(place Place, _ []Row) bool { return place.Trouble == "" })
	f.Measure()
	f.until(t, func(_ Place, rows []Row) bool {
		for _, r := range rows {
			if r.Handle == "alice" && r.Usage != nil {
				rig.Check(t, *r.Usage == Usage{Memory: 1 << 20, CPU: -1}, "%+v", r.Usage)
				return true
			}
			rig.Check(t, r.Usage == nil, "%s uses %+v", r.Handle, r.Usage)
		}
		return false
	})

	var u farUsage
	for i, cpu := range []string{"10", "13", "1"} {
		u.take("build1", []byte(`[{"handle":"alice","usage":{"rss_bytes":5,"cpu_seconds":`+cpu+`}}]`), noon.Add(time.Duration(i)*30*time.Second))
		used, is := u.of(Who{Handle: "alice", Host: "build1"})
		rig.Check(t, is && used == Usage{Memory: 5, CPU: []float64{-1, 10, -1}[i]}, "measurement %d: %+v", i, used)
	}
}

// The limits of the account that a host uses stand beside its name, and the events of its selected agent at the bottom.
func TestLimitsAndEventsOfAHost(t *testing.T) {
	t.Parallel()
	d := newDistant()
	d.become(nil, "list --json", `[{"handle":"alice","state":"idle","limits":{"five_hour":{"used_percent":42,"resets_at":"2999-01-01T00:00:00Z"},"age_s":60}},`+
		`{"handle":"bob","state":"idle","limits":{"five_hour":{"used_percent":41,"resets_at":"2999-01-01T00:00:00Z"},"age_s":120}}]`,
		"events alice --json --follow --last=3", `{"at":"2026-11-27T11:00:00Z","event":"stop","handle":"alice","detail":"by \u001b[2J you"}`+"\n"+"nonsense\n",
		"events bob --json --follow --last=3", strings.Repeat(`{"at":"2026-11-27T12:00:00Z","event":"spawn","handle":"bob"}`+"\n", 5))
	f := dashboard(t, d, t.TempDir())
	defer f.Close()
	m := Model{Width: 120, Height: 40, Now: noon, Grouped: true}
	shows := func(words ...string) {
		t.Helper()
		f.until(t, func(Place, []Row) bool {
			sight, err := f.Look(t.Context())
			rig.Must(t, err)
			m = m.Look(sight)
			f.Select(m.Followed())
			for _, word := range words {
				if !strings.Contains(m.View(), word) {
					return false
				}
			}
			return true
		})
	}
	shows("build1  5h: 42%", "last events of alice@build1", "11:00:00  stop alice by", "you")
	rig.Check(t, !strings.Contains(m.View(), "\x1b[2J"), "%q", m.View())
	m, _ = press(m, "j")
	shows("last events of bob@build1", "12:00:00  spawn bob")
	rig.Equal(t, strings.Count(m.View(), "spawn bob"), journalLines, "events of bob")
	rig.Check(t, !strings.Contains(m.View(), "stop alice"), "%s", m.View())
	m.Height = 29
	rig.Check(t, m.Followed() == Who{} && !strings.Contains(m.View(), "last events"), "a low screen follows %s", m.Followed())
}
