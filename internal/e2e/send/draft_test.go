package send

import (
	"fmt"
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

// A person's words stay his: nothing of them is sent with ours, and they stay in the prompt.
func TestPersonsWordsAreNotSent(t *testing.T) {
	m := eachVersion(t)
	m.OK("spawn", "alpha", "--model", "sonnet")
	s := m.Session("alpha")
	m.typesBesideAText(s)
	m.stashesAndSearches(s)
	m.typesBesideACommand(s)
}

// clear deletes what a person has in the prompt.
func (m *team) clear(s e2e.Session, box string) {
	m.Helper()
	m.waitBox("alpha", box)
	m.Tmux("send-keys", "-t", "="+s.TmuxSession+":", "C-u")
	m.waitBox("alpha", "")
}

// typesBesideAText types while claude draws nothing, before a text of ours is submitted and behind it.
func (m *team) typesBesideAText(s e2e.Session) {
	m.Helper()
	slow := m.whileTyped("", fmt.Sprintf("kill -STOP %d; %s", s.RecordedPID, types(s, "mine")), fmt.Sprintf("%s; kill -CONT %d", types(s, "2"), s.RecordedPID))
	for _, text := range []string{"three\nlines\nof words", strings.Repeat("a long text ", 60) + "end"} {
		r := m.NBSWith([]string{slow}, "send", "alpha", text)
		m.Check(r.Code == 0, "%s", r)
		said := m.prompts("alpha")
		m.Check(said[len(said)-1] == text, "%q arrived as %q", text, said[len(said)-1])
		m.waitBox("alpha", "mine2")
		m.Send(8, "held", "alpha", "and this")
		m.clear(s, "mine2")
	}
}

// stashesAndSearches has a stash, which comes back into the prompt when a text of ours is submitted, and searches in the history,
// where nothing is typed: Enter would submit what is found.
func (m *team) stashesAndSearches(s e2e.Session) {
	m.Helper()
	pane := "=" + s.TmuxSession + ":"
	m.WaitState("alpha", "idle")
	m.Tmux("send-keys", "-t", pane, "-l", "hello stash")
	m.waitBox("alpha", "hello stash")
	m.Tmux("send-keys", "-t", pane, "C-s")
	m.waitBox("alpha", "")
	m.WaitFor("the stash is shown", func() (bool, string) { shown := m.Screen("alpha"); return strings.Contains(shown, " stashed\n"), shown })
	m.Send(0, "accepted", "alpha", "beside a stash")
	m.clear(s, "hello stash")
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
	m.Check(slices.Equal(said[2:], []string{"beside a stash", "words"}), "%q", said)
}

// typesBesideACommand types when a command of ours is submitted. His keys answer nothing in a dialog that the command opens.
func (m *team) typesBesideACommand(s e2e.Session) {
	m.Helper()
	mine := fmt.Sprintf("kill -STOP %d; %s", s.RecordedPID, types(s, "mine"))
	goOn := fmt.Sprintf("kill -CONT %d", s.RecordedPID)
	long := "/compact " + strings.Repeat("long words ", 69) + "end"
	for _, order := range [][]string{{"compact", "alpha"}, {"send", "alpha", "--raw", long}} {
		r := m.NBSWith([]string{m.whileTyped("", mine, types(s, "2")+"; "+goOn)}, order...)
		m.Check(r.Code == 0, "%s", r)
		m.clear(s, "mine2")
	}
	shown := m.Screen("alpha")
	m.Check(strings.Contains(strings.Join(strings.Fields(shown), " "), "❯ "+long+" ⎿"), "%s", shown)

	r := m.NBSWith([]string{m.whileTyped("", mine, goOn)}, "send", "alpha", "--raw", "/model")
	shown = m.Screen("alpha")
	m.Check(strings.Contains(shown, "Select model") && regexp.MustCompile(`❯ \d\. Sonnet ✔`).MatchString(shown), "%s, %s", r, shown)
	m.Tmux("send-keys", "-t", "="+s.TmuxSession+":", "Escape")
	m.clear(s, "mine")
	m.Send(0, "accepted", "alpha", "hello")
}

// A claude that is suspended in the moment of Enter has the text when it goes on: once, whatever is sent meanwhile. What a
// command of ours has typed and could not submit is taken away at the next attempt, and nothing of a person's is.
func TestOwnTextDoesNotStayInThePrompt(t *testing.T) {
	m := eachVersion(t)
	s := m.Remembers("alpha")
	m.mustHaveOnce(s, "once")
	const moved = `^.\[H$` // the cursor, before it
	for _, keys := range []string{"/compact", moved} {
		suspended := m.whileTyped(keys, fmt.Sprintf("kill -STOP %d", s.RecordedPID), "true")
		r := m.NBSWith([]string{suspended}, "compact", "alpha")
		m.Check(r.Code == 8 && strings.Contains(r.Stderr, "may still be in its prompt"), "%s", r)
		m.Kill(s.RecordedPID, syscall.SIGCONT)
		if keys == moved { // what deletes it has been typed too
			m.waitBox("alpha", "")
		} else {
			m.waitBox("alpha", "/compact")
			m.MustSay(m.OK("triage", "alpha"), "its prompt has contained an unsent message of nbs-worker since")
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

// mustHaveOnce suspends claude in the moment of Enter.
func (m *team) mustHaveOnce(s e2e.Session, text string) {
	m.Helper()
	r := m.NBSWith([]string{m.whileTyped("", fmt.Sprintf("kill -STOP %d", s.RecordedPID), "true")}, "send", "alpha", text)
	m.Check(r.Code == 3 && strings.Contains(r.Stderr, "the transcript does not contain it"), "%s", r)
	m.Refused(8, "stopped by a signal", "send", "alpha", "another")
	m.Kill(s.RecordedPID, syscall.SIGCONT)
	m.MustAnswer("alpha", "You said: "+text)
	m.Send(0, "accepted", "alpha", text, "--force")
	said := m.prompts("alpha")
	m.Check(slices.Equal(said, []string{"Remember 42.", text}), "%q", said)
}
