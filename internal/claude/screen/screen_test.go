package screen

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"nbs-worker/internal/agent"

	"nbs-worker/internal/sim/rig"
)

const screens = "../../../testdata/screens"

// answer is a reading in the words of testdata/screens/answers.txt.
func (r Reading) answer() string {
	words := []string{string(r.State)}
	if r.Dialog != "" {
		words = append(words, string(r.Dialog))
	}
	if r.Retry != nil {
		words = append(words, fmt.Sprintf("%d/%d", r.Retry.Attempt, r.Retry.Of), r.Retry.In.String())
	}
	if r.Trouble != "" {
		words = append(words, strings.ReplaceAll(string(r.Trouble), " ", "-"))
	}
	return strings.Join(words, " ")
}

// readAnswers reads what each screen is.
func readAnswers(t *testing.T) map[string]string {
	t.Helper()
	answers := map[string]string{}
	for line := range strings.Lines(screen(t, "answers.txt")) {
		if name, answer, is := strings.Cut(strings.TrimSpace(line), " "); is && name != "#" {
			answers[name] = answer
		}
	}
	return answers
}

func screen(t testing.TB, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(screens, name))
	rig.Must(t, err)
	return string(text)
}

// A new screen is a new file and a line in answers.txt.
func TestScreens(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(filepath.Join(screens, "*", "*.txt"))
	rig.Must(t, err)
	answers := readAnswers(t)
	for _, file := range files {
		name, err := filepath.Rel(screens, file)
		rig.Must(t, err)
		want, there := answers[name]
		if !there {
			t.Errorf("%s is not in answers.txt: %s", name, Read(screen(t, name)).answer())
			continue
		}
		delete(answers, name)
		rig.Equal(t, Read(screen(t, name)).answer(), want, "%s", name)
	}
	for name := range answers {
		t.Errorf("%s is in answers.txt and is no file", name)
	}
}

// A client of another size, other line ends, and what was there before change no answer.
func TestScreensOnOtherTerminals(t *testing.T) {
	t.Parallel()
	for name, want := range readAnswers(t) {
		text := screen(t, name)
		if strings.HasPrefix(want, "unknown") || strings.Contains(name, "question-that-draws-a-box") {
			continue // what is above may tell more then; a box must keep its width
		}
		rule := strings.Repeat("─", 120)
		for how, changed := range map[string]string{
			"60 columns":       strings.ReplaceAll(text, rule, rule[:60*len("─")]),
			"200 columns":      strings.ReplaceAll(text, rule, strings.Repeat("─", 200)),
			"carriage returns": strings.ReplaceAll(text, "\n", "\r\n"),
			"blank lines":      strings.ReplaceAll(text, "\n", "   \n\n"),
			"no final break":   strings.TrimRight(text, "\n"),
			"a talk above":     screen(t, "2.1.329/busy.txt") + text,
		} {
			rig.Equal(t, Read(changed).answer(), want, "%s, %s", name, how)
		}
	}
}

// A screen below which something else came up is that other thing.
func TestDialogThatWasAnswered(t *testing.T) {
	t.Parallel()
	answers := readAnswers(t)
	for name, above := range answers {
		if !strings.HasPrefix(above, "waiting") {
			continue
		}
		for _, below := range []string{"2.1.329/idle.txt", "2.1.197/busy.txt", "2.1.329/permission-prompt.txt", "2.1.329/exited-with-resume-hint.txt", "2.1.329/trust-dialog.txt"} {
			if got := Read(screen(t, name) + screen(t, below)).answer(); got != answers[below] {
				t.Errorf("%s above %s: %s; want %s", name, below, got, answers[below])
			}
		}
	}
}

// The dialogs of a start are told from those of a conversation.
func TestDialogsOfAStart(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]bool{
		"2.1.329/trust-dialog.txt": true, "2.1.197/trust-dialog.txt": true, "2.1.329/add-dir-dialog.txt": true, "2.1.329/api-key-dialog.txt": true,
		"2.1.329/bypass-warning.txt": true, "2.1.197/onboarding-80x24.txt": true, "2.1.332/start-mcp-80x24.txt": true,
		"2.1.329/permission-prompt.txt": false, "2.1.329/idle.txt": false, "2.1.329/question-dialog.txt": false, "2.1.329/resume-picker.txt": false,
	} {
		rig.Equal(t, Read(screen(t, name)).Dialog.AtStart(), want, "%s", name)
	}
	got := Read("\n Select login method:\n\n ❯ 1. Claude account with subscription · Pro, Max, Team, or Enterprise\n\n   2. Anthropic Console account\n").Dialog
	rig.Check(t, got == DialogLogin && got.AtStart(), "login: %q", got)
	rig.Check(t, !NotLoggedIn(screen(t, "2.1.329/idle.txt")) && NotLoggedIn(screen(t, "2.1.197/not-logged-in.txt")), "the login is mistaken")
}

func TestEachDialogHasItsWords(t *testing.T) {
	t.Parallel()
	for _, dialog := range dialogs {
		got := dialog.Question()
		rig.Check(t, got != string(dialog) && got != "", "%s asks %q", dialog, got)
		got = dialog.Waits()
		rig.Check(t, got != "", "%s waits for nothing", dialog)
	}
}

var dialogs = []Dialog{
	DialogTrust, DialogAddDir, DialogAPIKey, DialogBypass, DialogOnboarding, DialogLogin,
	DialogConfig, DialogSettings, DialogMCP, DialogImports,
	DialogPermission, DialogQuestion, DialogAutoMode, DialogResume, DialogOther,
}

func TestEmptyScreen(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "\n", "  \n \n"} {
		got := Read(text)
		rig.Check(t, got == (Reading{State: agent.Unknown}), "%q: %+v", text, got)
	}
}

// The footer says it for as long as no write succeeds, on a narrow terminal in several lines; words of the agent's do not.
func TestTranscriptThatCannotBeWritten(t *testing.T) {
	t.Parallel()
	rule := strings.Repeat("─", 60) + "\n"
	box := "❯ Remember 43.\n\n● OK.\n\n" + rule + "❯ \n" + rule
	for footer, want := range map[string]string{
		"  ⚠ Transcript writes are failing (disk full — ENOSPC) · recent messages may not be saved for resume\n  ⏸ manual mode on\n": "disk full — ENOSPC",
		"  ⚠ Transcript writes are failing (disk full — \n  ENOSPC) · recent messages may not be\n  saved for resume\n":              "disk full — ENOSPC",
		"  ⚠ Transcript writes are failing · recent messages may not be saved for resume\n":                                          "it does not say why",
		"  ⏸ manual mode on\n": "",
	} {
		got := Read(box + footer)
		rig.Check(t, got.State == agent.Idle && got.Unsaved == want, "%q: %+v", footer, got)
	}
	said := Read("● ⚠ Transcript writes are failing (disk full)\n\n" + rule + "❯ \n" + rule)
	rig.Check(t, said.Unsaved == "", "%+v", said)
}
