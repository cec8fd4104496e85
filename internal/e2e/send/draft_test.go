package send

import (
	"fmt"
	"os/exec"
	"strings"
	"testing"
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

// whileEnter makes a tmux that does something to a claude before and after it gives Enter to the pane.
func (m *team) whileEnter(before, after string) (entry string) {
	m.Helper()
	tmux, err := exec.LookPath("tmux")
	m.Must(err)
	return m.BeforeTmux(fmt.Sprintf(`case "$*" in *load-buffer*if-shell*)
	cat >%[1]s/keys
	if grep -q -e "$(printf '\r')" -e 13u %[1]s/keys; then
		%[2]s
		%[4]s "$@" <%[1]s/keys; code=$?
		%[3]s
		exit $code
	fi
	exec <%[1]s/keys
esac`, m.TempDir(), before, after, tmux))
}

// A person types while claude draws nothing: his keys are not sent with ours, and stay in the prompt.
func TestEnterSendsNothingOfAPersons(t *testing.T) {
	m := eachVersion(t)
	m.OK("spawn", "alpha", "--model", "sonnet")
	s := m.Session("alpha")
	types := "tmux -u -L default send-keys -t '=" + s.TmuxSession + ":' -l "
	slow := m.whileEnter(fmt.Sprintf("kill -STOP %d; %s mine", s.RecordedPID, types), fmt.Sprintf("%s 2; kill -CONT %d", types, s.RecordedPID))
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
