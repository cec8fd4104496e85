package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"nbs-worker/internal/app/cli/ui"
	"nbs-worker/internal/app/wire"
	"nbs-worker/internal/chat/schedule"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/sim/rig"
	"nbs-worker/internal/store"
	"nbs-worker/internal/store/conversations"
	"nbs-worker/internal/store/storetest"
	"nbs-worker/internal/store/trust"
)

// A time of the machine's clock stands beside a cron expression of another zone: the zone that it is in is named.
func TestScheduleListNamesTheZoneOfATime(t *testing.T) {
	t.Parallel()
	project := newProject(t)
	writeSchedules(t, project, "schedules:\n"+
		"  here: {every: 1h, prompt: x}\n"+
		"  tokyo: {cron: 30 7 * * *, zone: Asia/Tokyo, prompt: x}\n"+
		"  honolulu: {cron: 30 7 * * *, zone: Pacific/Honolulu, prompt: x}\n")
	person := ui.Streams{OutTTY: true, ErrTTY: true}
	named := 0
	for _, verb := range []string{"list", "next"} {
		for line := range strings.Lines(runOn(person, "--root", project, "schedule", verb).want(t, 0).out) {
			next := regexp.MustCompile(`(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)( [A-Z]+| [-+]\d+)?`).FindStringSubmatch(line)
			if next == nil {
				continue
			}
			at, err := time.ParseInLocation(time.DateTime, next[1], time.Local)
			rig.Must(t, err)
			want := ""
			for _, zone := range []string{"Asia/Tokyo", "Pacific/Honolulu"} {
				there, err := time.LoadLocation(zone)
				rig.Must(t, err)
				if short := strings.ToLower(zone[strings.Index(zone, "/")+1:]); strings.Contains(line, short) && at.In(there).Format(time.DateTime) != next[1] {
					want = " " + at.Format("MST")
					named++
				}
			}
			rig.Equal(t, next[2], want, "the zone in %q", line)
		}
	}
	rig.Check(t, named > 0, "%d zones are named", named)
}

func writeSchedules(t *testing.T, project, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(project, ".nbs/schedules.yaml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// The schedules in the help are some.
func TestSchedulesOfTheHelp(t *testing.T) {
	t.Parallel()
	_, text, _ := strings.Cut(longOf("schedule"), "All else is\noptional:\n")
	text, _, _ = strings.Cut(text, "\n\nA run that waits")
	file, err := schedule.Parse("help", []byte(text))
	if err != nil || len(file.Entries) != 2 || file.Resets.None() {
		t.Errorf("%+v, %v", file, err)
	}
}

func TestScheduleListAndNext(t *testing.T) {
	t.Parallel()
	project := newProject(t)
	for _, verb := range []string{"list", "next"} {
		rig.Equal(t, run("--root", project, "schedule", verb, "--json").want(t, 0).out, "[]\n", "schedule %s without schedules", verb)
	}
	runOn(ui.Streams{OutTTY: true, ErrTTY: true}, "--root", project, "schedule", "list").want(t, 0, "there are no schedules", "schedule --help")
	run("--root", t.TempDir(), "schedule", "list").want(t, fail.NotFound, "no .nbs folder")
	run("--root", project, "schedule", "run", "a").want(t, fail.NotFound, "there are no schedules", "help schedule")
	writeSchedules(t, project, "schedules:\n  a: {every: 1, prompt: x}\n  b: {prompt: x}\n")
	run("--root", project, "schedule", "next").want(t, fail.BadInput, "2 mistakes", "line 2, column 14: ", "line 3, column 3: b: it is not said when")
	writeSchedules(t, project, "schedules:\n  a: {every: 1h, prompt: x}\n  b: {every: 24h, send: {to: alpha, text: x}}\n  c: {every: 1h, prompt: x, permission_mode: plan, allowed_tools: [Read, 'Bash(git *)'], on_denied: fail}\n")
	r := run("--root", project, "schedule", "list").want(t, 0, "is not allowed", " allow --schedules\n")
	if !strings.HasPrefix(r.out, "a\tevery 1h0m0s\tturn\t") || !strings.Contains(r.out, "\nb\tevery 24h0m0s\tmessage to alpha\t") || !strings.Contains(r.out, "\tturn: plan; allowed tools Read, Bash(git *)\t") {
		t.Errorf("stdout: %q", r.out)
	}
	r = run("--root", project, "schedule", "run", "a").want(t, fail.Held, "you have not said yet that it may run", " allow --schedules\n")
	if strings.Count(r.err, "not allowed") != 1 {
		t.Errorf("it is not said once: %q", r.err)
	}
	var all []wire.Schedule
	r = run("--root", project, "schedule", "list", "--json").want(t, 0)
	if err := json.Unmarshal([]byte(r.out), &all); err != nil || len(all) != 3 || all[2].PermissionMode != "plan" || len(all[2].AllowedTools) != 2 || all[2].OnDenied != schedule.DeniedFail || all[0].AllowedTools != nil {
		t.Errorf("%v: %s", err, r.out)
	}
	var runs []wire.ScheduledRun
	r = run("--root", project, "schedule", "next", "--count", "30", "--json").want(t, 0)
	if err := json.Unmarshal([]byte(r.out), &runs); err != nil || len(runs) != 30 || !strings.HasPrefix(runs[0].ID, "cron:a:") {
		t.Errorf("%v: %s", err, r.out)
	}
	run("--root", project, "schedule", "next", "--count", "0").want(t, fail.BadInput, "1 to 1000")
}

// The list says why a run waits, and what was left out for that.
func TestScheduleListSaysWhatARunWaitsFor(t *testing.T) {
	t.Parallel()
	project := newProject(t)
	writeSchedules(t, project, "schedules:\n  a: {every: 1h, prompt: x}\n")
	s, err := store.Open(project)
	rig.Must(t, err)
	t.Cleanup(func() { _ = s.Close() })
	home, err := trust.HomeOf(os.Environ())
	rig.Must(t, err)
	s.Use(trust.NewKeeper(home))
	at := storetest.SomeTime()
	rig.Must(t, s.Schedules().Remember(map[string]schedule.Last{"a": {When: "every 1h0m0s", ScheduledFor: at, Skipped: 2, SkippedTo: at.Add(2 * time.Hour)}}))
	c := s.Conversations().Of("cron:a")
	_, _, err = c.Enqueue(t.Context(), conversations.Meta{}, conversations.Request{Text: "x"})
	rig.Must(t, err)
	held := conversations.Held{Class: "authentication", Reason: "Please run /login", Until: at.Add(time.Hour), Mends: true, At: at}
	rig.Must(t, c.Hold(t.Context(), 1, held))
	out := run("--root", project, "schedule", "list").want(t, 0).out
	rig.Check(t, strings.HasSuffix(out, ", not over, waits: Please run /login; 2 later runs left out\n"), "%q", out)
	var all []wire.Schedule
	rig.Must(t, json.Unmarshal([]byte(run("--root", project, "schedule", "list", "--json").want(t, 0).out), &all))
	rig.Check(t, all[0].Running && all[0].Skipped == 2 && *all[0].Held == wire.HeldRun{Class: held.Class, Reason: held.Reason, Until: all[0].Held.Until} && all[0].Held.Until.Equal(held.Until), "%+v", all)
}

// The schedules count with what they name, as a person has seen both.
func TestAllowSchedules(t *testing.T) {
	t.Parallel()
	project := newProject(t)
	prompt := filepath.Join(project, "page.md")
	writeSchedules(t, project, "schedules:\n  a: {every: 1h, prompt_file: page.md, permission_mode: acceptEdits}\n")
	allow := func(answer string) ran {
		return runOn(ui.Streams{In: strings.NewReader(answer), InTTY: true, OutTTY: true, ErrTTY: true}, "--root", project, "allow", "--schedules")
	}
	allow("y\n").want(t, fail.NotFound)
	if err := os.WriteFile(prompt, []byte("What is new?"), 0o600); err != nil {
		t.Fatal(err)
	}
	allow("n\n").want(t, fail.Failed)
	if r := run("--root", project, "schedule", "list"); !strings.Contains(r.err, "not allowed") {
		t.Errorf("refused, and yet: %q", r.err)
	}
	if out := allow("y\n").want(t, 0).out; !strings.Contains(out, "every: 1h") || !strings.Contains(out, "What is new?") || !strings.HasSuffix(out, "a turn with the text of \"page.md\"; what Claude may do: acceptEdits\nschedules: allowed\n") {
		t.Errorf("%q", out)
	}
	if r := run("--root", project, "schedule", "list"); r.err != "" {
		t.Errorf("allowed, and yet: %q", r.err)
	}
	if out := allow("").want(t, 0).out; strings.Contains(out, "What is new?") {
		t.Errorf("once more: %q", out)
	}
	if err := os.WriteFile(prompt, []byte("Delete all."), 0o600); err != nil {
		t.Fatal(err)
	}
	if out := allow("n\n").want(t, fail.Failed).out; !strings.Contains(out, "Delete all.") || strings.Contains(out, "every: 1h") {
		t.Errorf("a changed prompt: %q", out)
	}
	run("--root", project, "allow", "--schedules", "alpha").want(t, fail.BadInput, "exclude each other")
}
