package claude

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const screens = "../../testdata/screens"

// expected is what the table says of a screen.
type expected struct {
	dialog      Dialog // "": none
	notLoggedIn bool
}

// readExpected reads testdata/screens/dialogs.txt.
func readExpected(t *testing.T) map[string]expected {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(screens, "dialogs.txt"))
	if err != nil {
		t.Fatal(err)
	}
	table := map[string]expected{}
	for line := range strings.Lines(string(text)) {
		words := strings.Fields(line)
		if len(words) < 2 || words[0] == "#" {
			continue
		}
		e := expected{notLoggedIn: len(words) > 2 && words[2] == "not-logged-in"}
		if words[1] != "none" {
			e.dialog = Dialog(words[1])
		}
		table[words[0]] = e
	}
	return table
}

func screen(t testing.TB, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(screens, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// A new screen is a new file and a line in the table.
func TestScreens(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(filepath.Join(screens, "*", "*.txt"))
	if err != nil {
		t.Fatal(err)
	}
	table := readExpected(t)
	for _, file := range files {
		name, err := filepath.Rel(screens, file)
		if err != nil {
			t.Fatal(err)
		}
		want, there := table[name]
		if !there {
			t.Errorf("%s is not in dialogs.txt", name)
			continue
		}
		delete(table, name)
		text := screen(t, name)
		if got, open := ReadDialog(text); got != want.dialog || open != (want.dialog != "") {
			t.Errorf("%s: dialog %q, %t; want %q", name, got, open, want.dialog)
		}
		if got := NotLoggedIn(text); got != want.notLoggedIn {
			t.Errorf("%s: not logged in: %t; want %t", name, got, want.notLoggedIn)
		}
	}
	for name := range table {
		t.Errorf("%s is in dialogs.txt and is no file", name)
	}
}

// A client of another size, and other line ends, do not hide a dialog.
func TestDialogOnOtherTerminals(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"2.1.197/trust-dialog.txt", "2.1.329/trust-dialog.txt", "2.1.329/add-dir-dialog.txt", "2.1.329/api-key-dialog.txt", "2.1.329/bypass-warning.txt"} {
		text := screen(t, name)
		want, _ := ReadDialog(text)
		rule := strings.Repeat("─", 120)
		for how, changed := range map[string]string{
			"60 columns":       strings.ReplaceAll(text, rule, rule[:60*len("─")]),
			"200 columns":      strings.ReplaceAll(text, rule, strings.Repeat("─", 200)),
			"carriage returns": strings.ReplaceAll(text, "\n", "\r\n"),
			"blank lines":      strings.ReplaceAll(text, "\n", "   \n\n"),
			"no final break":   strings.TrimRight(text, "\n"),
			"a talk above":     screen(t, "2.1.329/busy.txt") + text,
		} {
			if got, open := ReadDialog(changed); got != want || !open {
				t.Errorf("%s, %s: %q, %t; want %q", name, how, got, open, want)
			}
		}
	}
}

// A screen below which something else came up is that other thing.
func TestDialogThatWasAnswered(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"2.1.329/trust-dialog.txt", "2.1.329/api-key-dialog.txt", "2.1.329/bypass-warning.txt"} {
		for _, below := range []string{"2.1.329/idle.txt", "2.1.197/busy.txt", "2.1.329/permission-prompt.txt", "2.1.329/exited-with-resume-hint.txt"} {
			if got, open := ReadDialog(screen(t, name) + screen(t, below)); open {
				t.Errorf("%s above %s: %q; want none", name, below, got)
			}
		}
	}
	if got, open := ReadDialog(""); open {
		t.Errorf("an empty screen: %q", got)
	}
}

func TestEachDialogHasItsQuestion(t *testing.T) {
	t.Parallel()
	for _, dialog := range []Dialog{DialogTrust, DialogAddDir, DialogAPIKey, DialogBypass, DialogOnboarding, DialogLogin} {
		if got := dialog.Question(); got == string(dialog) || got == "" {
			t.Errorf("%s asks %q", dialog, got)
		}
	}
}
