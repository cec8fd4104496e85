package schedule

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp/cmpopts"

	"nbs-worker/internal/fail"
	"nbs-worker/internal/sim/rig"
)

const full = `
zone: Europe/Berlin
reset_at: "04:00"
idle_reset: 12h
keys: [telegram:*, review]
schedules:
  morning:
    cron: "30 7 * * 1-5"
    zone: America/New_York
    prompt: "What is new?"
    system_prompt: You are brief.
    model: haiku
    missed: once
    overlap: queue
    deliver_to: telegram:-1234
  page:
    cron: "@daily"
    prompt_file: prompts/./page.md
  nudge:
    every: 1h
    send: {to: theologian, text: "Go on."}
`

func mustParse(t testing.TB, text string) *File {
	t.Helper()
	file, err := Parse("schedules.yaml", []byte(text))
	rig.Must(t, err)
	return file
}

func TestFileWithAll(t *testing.T) {
	t.Parallel()
	file := mustParse(t, full)
	var got []string
	for _, e := range file.Entries {
		got = append(got, e.Key()+", "+e.Times.String())
	}
	rig.Equal(t, strings.Join(got, "\n"), "cron:morning, 30 7 * * 1-5 America/New_York\ncron:page, @daily Europe/Berlin\ncron:nudge, every 1h0m0s", "times")
	morning, page, nudge := *file.Entry("morning"), *file.Entry("page"), *file.Entry("nudge")
	timeless := cmpopts.IgnoreFields(Entry{}, "Times")
	rig.Same(t, "a turn", Entry{
		Name: "morning", Line: 7, Prompt: "What is new?", SystemPrompt: "You are brief.", Model: "haiku", Missed: MissedOnce, Overlap: OverlapQueue,
		DeliverTo: "telegram:-1234",
	}, morning, timeless)
	rig.Same(t, "of a file", Entry{Name: "page", Line: 16, PromptFile: "prompts/page.md", Missed: MissedSkip, Overlap: OverlapSkip}, page, timeless)
	rig.Same(t, "a message", Entry{Name: "nudge", Line: 19, Send: &Send{To: "theologian", Text: "Go on."}, Missed: MissedSkip, Overlap: OverlapSkip}, nudge, timeless)
	r := file.Resets
	rig.Check(t, r.Daily != nil && r.Clock == "04:00" && r.Zone == "Europe/Berlin" && r.Idle == 12*time.Hour && len(r.Keys) == 2, "%+v", r)
	for _, text := range []string{"", "# nothing\n", "zone: UTC\n", "schedules: {}\n"} {
		file := mustParse(t, text)
		rig.Check(t, len(file.Entries) == 0 && file.Resets.None(), "%q: %+v", text, file)
	}
	rig.Equal(t, mustParse(t, "schedules: {a: {cron: 0 7 * * *, prompt: x}}").Entry("a").Times.String(), "0 7 * * * UTC", "without a zone")
}

// Each slip is told with its line and what belongs there.
func TestFileThatIsWrong(t *testing.T) {
	t.Parallel()
	entry := func(lines ...string) string { return "schedules:\n  a:\n    " + strings.Join(lines, "\n    ") + "\n" }
	turn := func(lines ...string) string { return entry(append([]string{"prompt: x"}, lines...)...) }
	for text, want := range map[string]string{
		"zon: UTC":                             `line 1: the file: there is no field "zon"; did you mean zone?`,
		"zone: Europe/Berln":                   `line 1: zone: "Europe/Berln" is no time zone`,
		"zone: Local":                          `line 1: zone: "Local" is no time zone`,
		"zone: UTC\nzone: UTC":                 "line 2: the file: zone is there twice",
		"reset_at: 4am":                        `line 1: reset_at: "4am" is no time of day, such as "04:00"`,
		"reset_at: 4:00":                       `line 1: reset_at: "4:00" is no time of day`,
		"idle_reset: 5s":                       `line 1: "5s" is no time of whole seconds, 1m or more`,
		"keys: [a]":                            "line 1: keys: it says which conversations are reset; say when",
		"reset_at: \"04:00\"\nkeys: a":         "line 2: keys: it must be a list",
		"reset_at: \"04:00\"\nkeys: [\"a*b\"]": `line 2: keys: "a*b" is no conversation`,
		"- a":                                  "line 1: the file: fields belong here",
		"schedules: [a]":                       "line 1: schedules: names with something below them",
		"schedules:\n  a b: {every: 1h, prompt: x}":                            `line 2: "a b" is no name of a schedule`,
		"schedules:\n  a:":                                                     "line 2: a: fields belong here",
		entry("prompt: x"):                                                     "line 2: a: it is not said when; say cron:",
		entry("every: 1h"):                                                     "line 2: a: it is not said what; say prompt:",
		turn(`cron: "30 7"`):                                                   `line 4: a: cron "30 7": expected exactly 5 fields`,
		turn(`cron: "61 * * * *"`):                                             `line 4: a: cron "61 * * * *": end of range (61) above maximum (59)`,
		turn(`cron: "0 0 * * 7"`):                                              "0 is Sunday",
		turn(`cron: "0 0 30 2 *"`):                                             `line 4: a: cron "0 0 30 2 *": there is no such day`,
		turn(`cron: ", * * * *"`):                                              `line 4: a: cron ", * * * *": there is no such day`,
		turn(`cron: "TZ=UTC"`):                                                 "line 4: a: cron \"TZ=UTC\": set the time zone in its own field",
		turn(`cron: "CRON_TZ=UTC 0 7 * * *"`):                                  "set the time zone in its own field",
		turn(`cron: "@every 1h"`):                                              "set an interval in its own field: every: 15m",
		turn(`cron: "@often"`):                                                 "unrecognized descriptor",
		turn("cron: * * * * *"):                                                `quote the expression: cron: "* * * * *"`,
		turn("every: 1h", "cron: 0 7 * * *"):                                   "line 4: a: cron and every exclude each other",
		turn("every: 1h", "zone: Europe/Berlin"):                               "line 5: a: an interval is the same in all zones",
		turn("every: 1500ms"):                                                  `line 4: "1500ms" is no time of whole seconds, 1s or more`,
		turn("every: -1h"):                                                     `line 4: "-1h" is no time`,
		turn("every: [1h]"):                                                    "line 4: a text belongs here",
		turn("every: 1h", "missed: twice"):                                     `line 5: missed: "twice" must be one of skip and once`,
		turn("every: 1h", "overlap: kill"):                                     `line 5: overlap: "kill" must be one of skip and queue`,
		turn("every: 1h", "model: a b"):                                        `line 5: a: model "a b" is not valid`,
		turn("every: 1h", "deliver_to: mail:me"):                               `line 5: a: deliver_to "mail:me" is not a chat, such as telegram:1234`,
		turn("every: 1h", "prompt_file: x"):                                    "line 5: a: prompt and prompt_file exclude each other",
		turn("every: 1h", "send: {to: b, text: c}"):                            "line 3: a: prompt belongs to a turn",
		entry("every: 1h", "prompt: \" \""):                                    "line 4: a: the prompt is empty",
		entry("every: 1h", "prompt_file: ../x"):                                `line 4: a: prompt_file "../x" must be a path below the project root`,
		entry("every: 1h", "prompt_file: /etc/x"):                              `line 4: a: prompt_file "/etc/x" must be`,
		entry("every: 1h", "send: {to: b}"):                                    "line 4: a: send needs an agent and a text",
		entry("every: 1h", "send: b"):                                          "line 4: a: send: fields belong here: to, text",
		entry("every: 1h", "send: {to: ../b, text: c}"):                        `line 4: a: handle "../b" is not valid`,
		"schedules:\n  a: {every: 1h, prompt: x}\n  a: {every: 2h, prompt: x}": "line 3: there is a schedule \"a\" already, in line 2",
		"zone: UTC\n---\nzone: UTC":                                            "line 2: there is a second document",
		"zone: [":                                                              "line ",
		"\tzone: UTC":                                                          "line 1: found character that cannot start any token",
	} {
		_, err := Parse("schedules.yaml", []byte(text))
		switch said := withoutColumns(err); {
		case fail.KindOf(err) != fail.BadInput || !strings.Contains(said, want):
			t.Errorf("%q: %v; want %s", text, err, want)
		case strings.Contains(err.Error(), "\n") || !strings.Contains(err.Error(), `schedules "schedules.yaml", line `):
			t.Errorf("%q: not one line that says where: %v", text, err)
		}
	}
}

var column = regexp.MustCompile(`, column [0-9]+`)

// withoutColumns returns an error with its hints, and with the lines of mistakes alone.
func withoutColumns(err error) string {
	return fmt.Sprint(column.ReplaceAllString(fmt.Sprint(err), ""), fail.HintsOf(err))
}

func TestAllThatIsWrongIsToldAtOnce(t *testing.T) {
	t.Parallel()
	_, err := Parse("f", []byte("zone: X\nschedules:\n  a:\n    every: 1\n    missed: x\n  b:\n    cron: \"0 0 30 2 *\"\n    prmpt: x\n"))
	if err == nil {
		t.Fatal("nothing is wrong")
	}
	var lines []string
	for line := range strings.Lines(err.Error()) {
		begin, _, _ := strings.Cut(line, ": ")
		lines = append(lines, begin)
	}
	rig.Equal(t, strings.TrimSpace(strings.Join(lines, "|")), "schedules \"f\", 7 mistakes\n|line 1, column 7|line 3, column 3|line 4, column 12|line 5, column 13|line 6, column 3|line 7, column 11|line 8, column 5", "%v", err)
}

// What is shown for an alias is what it stands for, and none is followed for ever.
func FuzzParse(f *testing.F) {
	f.Add(full)
	f.Add("a: &a [*a]\nschedules: *a\n")
	f.Add("schedules:\n  a: {cron: \", * * * *\", prompt: x}\n")
	f.Fuzz(func(t *testing.T, text string) {
		file, err := Parse("f", []byte(text))
		if err != nil {
			return
		}
		for _, e := range file.Entries {
			rig.Check(t, !e.Times.Next(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)).IsZero(), "%s never runs", e.Times)
		}
	})
}

// The words of a prompt file count as the user allowed them, and come from the project.
func TestWordsOfAFile(t *testing.T) {
	t.Parallel()
	project := t.TempDir()
	write := func(name, text string) { rig.Must(t, os.WriteFile(filepath.Join(project, name), []byte(text), 0o600)) }
	write("good.md", "What is new?\n")
	write("empty.md", " \n")
	write("binary.md", "\xff")
	write("large.md", strings.Repeat("x", promptLimit+1))
	rig.Must(t, os.Symlink("/etc/passwd", filepath.Join(project, "out.md")))
	rig.Must(t, syscall.Mkfifo(filepath.Join(project, "pipe.md"), 0o600))
	allow := func(kind, name string, content []byte) error {
		if kind == PromptSealKind && name == "good.md" && string(content) == "What is new?\n" {
			return nil
		}
		return fail.Errorf(fail.Held, "%s is not allowed", name)
	}
	words, err := (&Entry{PromptFile: "good.md"}).Words(project, allow)
	rig.Check(t, err == nil && words == "What is new?\n", "%q, %v", words, err)
	for name, want := range map[string]fail.Kind{
		"empty.md": fail.BadInput, "binary.md": fail.BadInput, "large.md": fail.BadInput, "out.md": fail.BadInput, "pipe.md": fail.BadInput,
		"none.md": fail.NotFound, ".": fail.BadInput,
	} {
		_, err := (&Entry{PromptFile: name}).Words(project, allow)
		rig.Check(t, err != nil && fail.KindOf(err) == want, "%s: %v", name, err)
	}
	write("good.md", "Delete all.\n")
	_, err = (&Entry{PromptFile: "good.md"}).Words(project, allow)
	rig.Check(t, fail.KindOf(err) == fail.Held && strings.Contains(strings.Join(fail.HintsOf(err), " "), "nbs-worker allow --schedules"), "%v", err)
	for want, e := range map[string]*Entry{"said": {Prompt: "said"}, "sent": {Send: &Send{Text: "sent"}}} {
		words, err := e.Words(project, nil)
		rig.Check(t, err == nil && words == want, "%q, %v", words, err)
	}
}
