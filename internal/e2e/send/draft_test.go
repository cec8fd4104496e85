package send

import (
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"nbs-worker/internal/e2e"
)

// What stands in an agent's prompt: a person's words stay his, and ours do not stay there.

// box is what is in the agent's prompt.
func (m *team) box(handle string) string {
	m.Helper()
	lines := strings.Split(m.Screen(handle), "\n")
	var rules []int
	for i, line := range lines {
		if strings.HasPrefix(line, "────") {
			rules = append(rules, i)
		}
	}
	if len(rules) < 2 {
		return "no box: " + strings.Join(lines, "\n")
	}
	return strings.Join(strings.Fields(strings.TrimPrefix(strings.Join(lines[rules[len(rules)-2]+1:rules[len(rules)-1]], " "), "❯")), " ")
}

func (m *team) waitBox(handle, want string) {
	m.Helper()
	m.WaitFor("the prompt has "+want, func() (bool, string) { got := m.box(handle); return got == want, got })
}

// whileTyped makes a tmux that does something before and after it types what has some words, or presses Enter for "".
func (m *team) whileTyped(words, before, after string) (entry string) {
	m.Helper()
	tmux, err := exec.LookPath("tmux")
	m.Must(err)
	pattern := "-e '" + words + "'"
	if words == "" {
		pattern = `-e "$(printf '\r')" -e 13u`
	}
	return m.BeforeTmux(fmt.Sprintf(`case "$*" in *load-buffer*if-shell*)
	cat >%[1]s/keys
	if grep -q %[5]s %[1]s/keys; then
		%[2]s
		%[4]s "$@" <%[1]s/keys; code=$?
		%[3]s
		exit $code
	fi
	exec <%[1]s/keys
esac`, m.TempDir(), before, after, tmux, pattern))
}

// types is a command that types a text in the terminal of an agent, as a person would.
func types(s e2e.Session, text string) string {
	return fmt.Sprintf("tmux -u -L default send-keys -t '=%s:' -l '%s'", s.TmuxSession, text)
}

// A person types while claude draws nothing: his keys are not sent with ours, and stay in the prompt.
func TestEnterSendsNothingOfAPersons(t *testing.T) {
	m := eachVersion(t)
	m.OK("spawn", "alpha", "--model", "sonnet")
	s := m.Session("alpha")
	slow := m.whileTyped("", fmt.Sprintf("kill -STOP %d; %s", s.RecordedPID, types(s, "mine")), fmt.Sprintf("%s; kill -CONT %d", types(s, "2"), s.RecordedPID))
	for _, text := range []string{"hello", "three\nlines\nof words", strings.Repeat("a long text ", 60) + "end"} {
		r := m.NBSWith([]string{slow}, "send", "alpha", text)
		m.Check(r.Code == 0, "%s", r)
		said := m.prompts("alpha")
		m.Check(said[len(said)-1] == text, "%q arrived as %q", text, said[len(said)-1])
		m.waitBox("alpha", "mine2")
		m.Send(8, "held", "alpha", "and this")
		m.Tmux("send-keys", "-t", "="+s.TmuxSession+":", "C-u")
		m.waitBox("alpha", "")
	}
}

// He types so when a command of ours is submitted: his keys are not sent with it, and stay in the prompt. They
// answer nothing in a dialog that the command opens.
func TestCommandSendsNothingOfAPersons(t *testing.T) {
	m := eachVersion(t)
	m.Remembers("alpha")
	for range 3 { // 2.1.197 compacts no shorter conversation
		m.Reply("alpha", "What number?")
	}
	s := m.Session("alpha")
	pane := "=" + s.TmuxSession + ":"
	mine := fmt.Sprintf("kill -STOP %d; %s", s.RecordedPID, types(s, "mine"))
	goOn := fmt.Sprintf("kill -CONT %d", s.RecordedPID)
	cleared := func(box string) {
		m.waitBox("alpha", box)
		m.Tmux("send-keys", "-t", pane, "C-u")
		m.waitBox("alpha", "")
	}
	long := "/compact " + strings.Repeat("long words ", 69) + "end"
	for _, order := range [][]string{{"compact", "alpha"}, {"send", "alpha", "--raw", long}} {
		r := m.NBSWith([]string{m.whileTyped("", mine, types(s, "2")+"; "+goOn)}, order...)
		m.Check(r.Code == 0, "%s", r)
		cleared("mine2")
	}
	shown := m.Screen("alpha")
	m.Check(strings.Contains(strings.Join(strings.Fields(shown), " "), "❯ "+long+" ⎿"), "%s", shown)

	r := m.NBSWith([]string{m.whileTyped("", mine, goOn)}, "send", "alpha", "--raw", "/model")
	shown = m.Screen("alpha")
	m.Check(strings.Contains(shown, "Select model") && regexp.MustCompile(`❯ \d\. Sonnet ✔`).MatchString(shown), "%s, %s", r, shown)
	m.Tmux("send-keys", "-t", pane, "Escape")
	cleared("mine")
	m.Send(0, "accepted", "alpha", "hello")
}

// What Claude may drop from a text that is typed, draws otherwise or does not take goes by a file, as it is.
func TestHiddenCharactersArrive(t *testing.T) {
	m := eachVersion(t)
	m.OK("spawn", "alpha", "--model", "sonnet")
	texts := []string{"می\u200cخواهم", "👩\u200d💻 ❤\ufe0f"}
	for _, hidden := range "\u00ad\u061c\u180e\u200b\u200c\u200e\u200f\u202a\u202e\u2060\u2066\u2069\ufeff\ufff9\ufe0f\u034f" {
		texts = append(texts, fmt.Sprintf("a%cb, %U", hidden, hidden))
	}
	for _, text := range texts {
		got := m.Send(0, "accepted", "alpha", text)
		kept, err := os.ReadFile(got.File)
		m.Check(err == nil && string(kept) == text+"\n" && got.Channel == "file", "%+v, %q, %v", got, kept, err)
	}
	marks := "न\u093f x" + strings.Repeat("\u0301", 15) + " 🤷🏽 y" // more than a cell of tmux 3.3a can show
	got, said := m.Send(0, "accepted", "alpha", marks), m.prompts("alpha")
	m.Check(got.Channel == "typed" && said[len(said)-1] == marks, "%+v, %q", got, said)
	m.Refused(4, "a character that Claude may not take", "send", "alpha", "/compact a\u200bb", "--raw")
	for _, text := range []string{strings.Repeat("😀", 401), "<pasted_content> is a tag of Claude's"} { // a paste for Claude
		m.Check(m.Send(0, "accepted", "alpha", text).Channel == "file", "%q is typed", text)
	}
	m.Check(m.box("alpha") == "", "%q is left", m.box("alpha"))
}

// A claude that is suspended in the moment of Enter has the text when it goes on: once, whatever is sent meanwhile.
func TestSuspendedClaudeGetsATextOnce(t *testing.T) {
	m := eachVersion(t)
	m.OK("spawn", "alpha", "--model", "sonnet")
	s := m.Session("alpha")
	stop := m.whileTyped("", fmt.Sprintf("kill -STOP %d", s.RecordedPID), "true")
	r := m.NBSWith([]string{stop}, "send", "alpha", "once")
	m.Check(r.Code == 3 && strings.Contains(r.Stderr, "the transcript does not contain it"), "%s", r)
	r = m.NBS("send", "alpha", "another")
	m.Check(r.Code == 8 && strings.Contains(r.Stderr, "stopped by a signal"), "%s", r)
	m.Kill(s.RecordedPID, syscall.SIGCONT)
	m.MustAnswer("alpha", "You said: once")
	m.Send(0, "accepted", "alpha", "once", "--force")
	m.Send(0, "accepted", "alpha", "another")
	said := m.prompts("alpha")
	m.Check(slices.Equal(said, []string{"once", "another"}), "%q", said)
}

// What a command of ours has typed and could not submit is taken away at the next attempt, and nothing of a person's is.
func TestOwnTextDoesNotStayInThePrompt(t *testing.T) {
	m := eachVersion(t)
	m.Remembers("alpha")
	s := m.Session("alpha")
	const moved = `^.\[H$` // the cursor, before it
	for _, keys := range []string{"/compact", moved} {
		suspended := m.whileTyped(keys, fmt.Sprintf("kill -STOP %d", s.RecordedPID), "true")
		r := m.NBSWith([]string{suspended}, "compact", "alpha")
		m.Check(r.Code == 8 && strings.Contains(r.Stderr, "may still be in its prompt"), "%s", r)
		m.Kill(s.RecordedPID, syscall.SIGCONT)
		if keys != moved { // else what deletes it has been typed too
			m.waitBox("alpha", "/compact")
			triaged := m.OK("triage", "alpha")
			m.Check(strings.Contains(triaged, "its prompt has contained an unsent message of nbs-worker since"), "%s", triaged)
		}
		got := m.Reply("alpha", "What number?")
		m.Check(got == "42", "%q", got)
	}

	drawn := fmt.Sprintf("until tmux -u -L default capture-pane -p -t '=%s:' | grep -q 'it is mine'; do :; done", s.TmuxSession)
	beside := m.whileTyped("/compact", "true", types(s, " it is mine")+"; "+drawn)
	r := m.NBSWith([]string{beside}, "compact", "alpha")
	m.Check(r.Code == 8 && strings.Contains(r.Stderr, "may still be in its prompt"), "%s", r)
	m.waitBox("alpha", "/compact it is mine")
	r = m.NBS("triage", "alpha")
	m.Check(r.Code == 8 && strings.Contains(r.Stdout, "\theld\t") && strings.Contains(r.Stdout, "a person's unsent draft, which contains a message of nbs-worker, has blocked messages since"), "%s", r)
	m.Refused(8, "hint: to send or delete it there: nbs-worker attach alpha\n", "send", "alpha", "hello")
	m.waitBox("alpha", "/compact it is mine")
	m.Tmux("send-keys", "-t", "="+s.TmuxSession+":", "C-u")
	m.waitBox("alpha", "")
	m.OK("triage", "alpha")
	m.Send(0, "accepted", "alpha", "hello")
}

// A prompt that a hook refuses at the start is no draft for ever: the next message takes it away.
func TestRefusedFirstPromptDoesNotStay(t *testing.T) {
	m := eachVersion(t)
	m.UserSettings(`{"hooks":{"UserPromptSubmit":[{"hooks":[{"type":"command","command":"if grep -q refuse; then echo no >&2; exit 2; fi"}]}]}}`)
	m.Refused(8, "a hook has refused the prompt", "spawn", "alpha", "--model", "sonnet", "--prompt", "please refuse this\nin two lines")
	if !e2e.OnOldest() { // which leaves nothing in the prompt
		m.waitBox("alpha", "please refuse this in two lines")
		triaged := m.OK("triage", "alpha")
		m.Check(strings.Contains(triaged, "its prompt has contained an unsent message of nbs-worker since"), "%s", triaged)
	}
	m.Send(0, "accepted", "alpha", "hello")
	r := m.NBS("send", "alpha", "refuse this")
	m.Check(r.Code == 3 && strings.Contains(r.Stderr, "a hook of the agent's has refused it"), "%s", r)
	m.Send(0, "accepted", "alpha", "good bye")
	m.waitBox("alpha", "")
}

// What a person has stashed comes back into the prompt when a text of ours is submitted, as it was. In a search of his in
// the history nothing is typed: Enter would submit what is found.
func TestStashAndSearchAreThePersons(t *testing.T) {
	m := eachVersion(t)
	m.OK("spawn", "alpha", "--model", "sonnet")
	pane := "=" + m.Session("alpha").TmuxSession + ":"
	m.Send(0, "accepted", "alpha", "first words")
	m.WaitState("alpha", "idle")
	m.Tmux("send-keys", "-t", pane, "-l", "hello stash")
	m.waitBox("alpha", "hello stash")
	m.Tmux("send-keys", "-t", pane, "C-s")
	m.waitBox("alpha", "")
	m.WaitFor("the stash is shown", func() (bool, string) { shown := m.Screen("alpha"); return strings.Contains(shown, " stashed\n"), shown })
	m.Send(0, "accepted", "alpha", "beside a stash")
	m.waitBox("alpha", "hello stash")
	m.Tmux("send-keys", "-t", pane, "C-u")
	m.waitBox("alpha", "")
	m.WaitState("alpha", "idle")

	searches := func() (bool, string) {
		shown := m.Screen("alpha")
		return strings.Contains(shown, "search prompts:"), shown
	}
	m.Tmux("send-keys", "-t", pane, "C-r")
	m.WaitFor("the search is open", searches)
	got := m.Send(8, "held", "alpha", "words")
	m.Check(strings.Contains(got.Reason, "searches its prompt history"), "%+v", got)
	m.Tmux("send-keys", "-t", pane, "Escape")
	m.WaitFor("the search is closed", func() (bool, string) { is, shown := searches(); return !is, shown })
	m.Send(0, "accepted", "alpha", "words")
	said := m.prompts("alpha")
	m.Check(slices.Equal(said, []string{"first words", "beside a stash", "words"}), "%q", said)
}

// A blank that stands before a command, of a person's or of ours, is taken away: behind it, Claude offers another command
// otherwise, and 2.1.197 gives the model the command as words.
func TestBlankBeforeACommand(t *testing.T) {
	m := eachVersion(t)
	m.Remembers("alpha")
	pane := "=" + m.Session("alpha").TmuxSession + ":"
	blanks := func() {
		m.Helper()
		m.Tmux("send-keys", "-t", pane, "-l", "  ")
		m.WaitFor("the blanks are drawn", func() (bool, string) {
			at := strings.TrimSpace(m.Tmux("display-message", "-p", "-t", pane, "#{cursor_x}"))
			return at == "4", at
		})
	}
	for range 2 {
		blanks()
		m.Refused(4, `Claude has no command "/clea"; it offers "/clear"`, "send", "alpha", "/clea", "--raw")
		m.waitBox("alpha", "")
	}
	blanks()
	m.Send(0, "accepted", "alpha", "/compact", "--raw")
	m.WaitState("alpha", "idle")
	logs := m.OK("logs", "alpha")
	m.Check(!strings.Contains(logs, "You said: /compact"), "the model was given the command as words: %s", logs)
	blanks()
	m.Send(0, "accepted", "alpha", "hello")
	m.waitBox("alpha", "")
}
