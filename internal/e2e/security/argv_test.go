package security

import (
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"nbs-worker/internal/claude/cmdline"
	"nbs-worker/internal/e2e"
	"nbs-worker/internal/sim/rig"
)

// Command lines: everybody on the machine can read them, and a word may mean something
// to whoever it passes through.

// What is promised: the first message of a start stands on claude's own command line,
// and on no other; a secret of the environment on none.
func TestCommandLinesAsAnotherUserSeesThem(t *testing.T) {
	m := standIn(t)
	rig.NeedsRoot(t)
	const canary = "canary-4711"
	seen := m.spyOnTmux()
	m.Env = append(m.Env, "SERVICE_TOKEN="+canary+"-secret", "PLAIN="+canary+"-value")
	look := m.watchAsNobody(canary)
	spawn := m.Command([]string{"spawn", "alpha", "--prompt-file", "-", "--env", "NOTE=kept"})
	spawn.Stdin = strings.NewReader("Remember 42. " + canary + "-prompt")
	if r := m.Finish(spawn); r.Code != 0 {
		t.Fatal(r)
	}
	onClaude := 0
	for _, s := range look() {
		if !strings.HasPrefix(s.cmdline, m.Variable("NBS_CLAUDE")+" --session-id ") || strings.Count(s.cmdline, canary) != 1 {
			t.Errorf("another user sees it on the command line of %d: %s", s.pid, s.cmdline)
		}
		onClaude++
	}
	m.Check(onClaude != 0, "the first message was not even seen where it is: the watch saw nothing")
	look = m.watchAsNobody(canary)
	for _, args := range [][]string{
		{"session", "alpha"}, {"list"}, {"stop", "alpha"}, {"resume", "alpha"}, {"resume", "alpha", "--force"}, {"dismiss", "alpha"},
	} {
		m.OK(args...)
	}
	for _, s := range look() {
		if s.cmdline != "" && !strings.Contains(s.cmdline, "--session-id") { // claude of the spawn, until its stop
			t.Errorf("another user sees it on the command line of %d: %s", s.pid, s.cmdline)
		}
	}
	m.Check(!strings.Contains(seen(), canary), "a tmux client got it")
}

// sighting is a process on whose command line another user saw a text.
type sighting struct {
	pid     int
	cmdline string
}

var sightingPattern = regexp.MustCompile(`(?m)^/proc/(\d+)/cmdline:(.*)$`)

// watchAsNobody reads all command lines of the machine, again and again, as a user
// without rights, until the look ends: then it tells where the text was seen.
func (m *team) watchAsNobody(text string) (look func() []sighting) {
	m.Helper()
	const script = `while :; do printf %s "$CANARY" | grep -saF -f - /proc/[0-9]*/cmdline; [ -n "$begun" ] || { begun=x; echo begun; }; done`
	watch := exec.Command("sh", "-c", script)
	watch.Dir, watch.Env = "/", []string{"PATH=" + os.Getenv("PATH"), "CANARY=" + text}
	watch.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: rig.Nobody, Gid: rig.Nobody}}
	watch.WaitDelay = 5 * time.Second
	out := &e2e.LockedBuffer{}
	watch.Stdout, watch.Stderr = out, out
	m.Must(watch.Start())
	m.Cleanup(func() { _ = watch.Process.Kill() })
	m.WaitFor("the other user looks", func() (bool, string) { return strings.Contains(out.String(), "begun"), out.String() })
	return func() []sighting {
		_ = watch.Process.Kill()
		_ = watch.Wait()
		var seen []sighting
		for _, match := range sightingPattern.FindAllStringSubmatch(out.String(), -1) {
			pid, _ := strconv.Atoi(match[1])
			seen = append(seen, sighting{pid: pid, cmdline: strings.ReplaceAll(match[2], "\x00", " ")})
		}
		return seen
	}
}

// A word that ends in ';' ends a tmux command, and the next words are one more.
func TestExtraArgumentsArriveAsGiven(t *testing.T) {
	m := standIn(t)
	args := []string{
		"--append-system-prompt", `x; run-shell "touch PWN"`, "--name", "evil;", "--add-dir", ";",
		"--fallback-model", "`touch PWN`", "--mcp-config", "line\nbreak \x1b[2J \u202e", "--effort", "{} * ~ \\;",
	}
	m.OK(append([]string{"spawn", "alpha", "--"}, args...)...)
	for _, again := range [][]string{nil, {"resume", "alpha", "--force"}} {
		if again != nil {
			m.OK(again...)
		}
		line := m.Cmdline(m.Session("alpha").RecordedPID)
		at := slices.Index(line, args[0])
		m.Check(at >= 0 && slices.Equal(line[at:], args), "claude got %q, want %q", line, args)
	}
	m.noCanary()
}

// optionPattern reads a line of claude's help: names, and what stands for a value.
var optionPattern = regexp.MustCompile(`(?m)^  (?:-\w, )?(--[\w-]+)(?:, (--[\w-]+))?(?: ([<\[][^ ]*[>\]]))?(?:  .*)?$`)

// A word behind an option that takes none is a prompt, and would be sent again at each
// resume. Which options take words is what each claude itself says.
func TestWordBehindAnOptionIsNoPrompt(t *testing.T) {
	m := eachVersion(t)
	help := exec.Command(m.Variable("NBS_CLAUDE"), "--help")
	help.Env, help.Dir = m.Env, m.World.Project
	text, err := help.Output()
	m.Must(err)
	taken := map[string]int{"": 0, "<": 1, "[": 1, "...": 2}
	checked := map[string]int{}
	for _, match := range optionPattern.FindAllStringSubmatch(string(text), -1) {
		kind := match[3]
		switch {
		case strings.Contains(kind, "..."):
			kind = "..."
		case kind != "":
			kind = kind[:1]
		}
		for _, name := range match[1:3] {
			if name != "" && takesWords(name) >= 0 {
				checked[kind]++
				if got := takesWords(name); got != taken[kind] {
					t.Errorf("claude says %q; %d words are taken", strings.TrimSpace(match[0]), got)
				}
			}
		}
	}
	m.Check(checked[""] >= 10 && checked["<"] >= 10 && checked["..."] >= 5, "the help was not understood: %v\n%s", checked, text)
}

// takesWords is how many words may follow an option, up to two; -1 when the option is
// ours to give.
func takesWords(option string) int {
	words := []string{option}
	err := cmdline.CheckExtraArgs(words)
	if err != nil && strings.Contains(err.Error(), "is set by nbs-worker itself") {
		return -1
	}
	taken := -1
	for ; err == nil && taken < 2; taken++ {
		words = append(words, "word")
		err = cmdline.CheckExtraArgs(words)
	}
	return taken
}
