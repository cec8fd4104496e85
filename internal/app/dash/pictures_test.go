package dash

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/sim/rig"
	"nbs-worker/internal/team/attention"
)

// What the screen looks like, in testdata. NBS_TEST_UPDATE=1 writes it anew.
func TestPictures(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name          string
		width, height int
		change        func(*Model)
		keys          string
	}{
		{"asks", 80, 24, nil, ""},
		{"events", 120, 40, nil, ""},
		{"wide", 200, 60, nil, "G"},
		{"screen", 80, 24, nil, "j space"},
		{"conversation", 80, 24, nil, "j space space"},
		{"projects", 100, 30, func(m *Model) { m.Grouped = true }, "3 tab"},
		{"colour", 80, 24, func(m *Model) { m.Color = true }, "j"},
		{"help", 80, 24, nil, "?"},
	} {
		m := Model{Width: c.width, Height: c.height, Now: noon}
		if c.change != nil {
			c.change(&m)
		}
		m = m.Look(aDay()).Use(map[Who]Usage{{Project: "/home/u/shop", Handle: "alice"}: {Memory: 412 << 20, CPU: 37}, {Project: "/home/u/shop", Handle: "bob"}: {Memory: 388 << 20, CPU: -1}})
		m, _ = press(m, strings.Fields(c.keys)...)
		who, preview := m.Previewed()
		m = m.Show(who, preview, map[Preview]string{
			ScreenPreview:       "> Make the tests of the cart pass.\n\n\x1b[32m●\x1b[0m All tests pass.\n\n> \n",
			ConversationPreview: "you: Make the tests of the cart pass.\nagent: All tests pass. The rounding was wrong in one place only, and I have added a case for it.\n",
		}[preview])
		checkPicture(t, fmt.Sprintf("%s-%dx%d.txt", c.name, c.width, c.height), strings.ReplaceAll(m.View(), "\x1b", "^[")+"\n")
	}
}

func checkPicture(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if os.Getenv("NBS_TEST_UPDATE") != "" {
		rig.Must(t, os.WriteFile(path, []byte(got), 0o644))
	}
	want, err := os.ReadFile(path)
	rig.Must(t, err)
	rig.Check(t, got == string(want), "%s differs; it is now:\n%s", path, got)
}

// aDay is a team of five in two projects.
func aDay() Sight {
	const shop, site = "/home/u/shop", "/home/u/site"
	ago := func(minutes int) time.Time { return noon.Add(-time.Duration(minutes) * time.Minute) }
	need := func(reason attention.Reason, minutes int, what string) *attention.Need {
		return &attention.Need{Reason: reason, Since: ago(minutes), What: what}
	}
	return Sight{
		Limits: "5h: 42% used, resets 59m; 7d: 18% used, resets 3d",
		Rows: []Row{
			{
				Who: Who{Project: shop, Handle: "alice"}, State: "waiting", Need: need(attention.Waits, 12, ""), Model: "opus-5", Left: 61, Band: agent.Healthy, Cost: 3.2, What: "Bash: rm -rf build",
				Ask:    &Ask{ID: "abcd1234", Title: "Bash: rm -rf build", Body: "command: rm -rf build\ndescription: Remove the old build", Plain: true},
				Branch: "cart",
			},
			{Who: Who{Project: shop, Handle: "bob"}, State: "idle", Need: need(attention.Done, 3, ""), Model: "sonnet-5", Left: 22, Band: agent.Low, Cost: 0.41, What: "All tests pass.", Branch: "tests", Pull: "#12 approved"},
			{Who: Who{Project: shop, Handle: "carol"}, State: "busy", Since: ago(7), Model: "opus-5[1m]", Left: 88, Band: agent.Healthy, Cost: 1.07, What: "Move the prices to whole cents."},
			{Who: Who{Project: site, Handle: "dave"}, State: "crashed", Need: need(attention.Down, 40, "crashed"), Model: "opus-5", Left: -1, Cost: -1, What: "crashed"},
			{Who: Who{Project: site, Handle: "erin"}, State: "idle", Need: need(attention.Short, 2, ""), Model: "haiku-5", Left: 6, Band: agent.Critical, Cost: 12.9, What: "6% of its context is left"},
		},
		Journal: []event{{ago(40), "exit dave signal: killed"}, {ago(9), "resume alice"}, {ago(7), "send carol"}},
	}
}
