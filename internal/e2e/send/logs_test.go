package send

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"nbs-worker/internal/e2e"
)

// logLine is a line of logs --json.
type logLine struct {
	SessionID string `json:"session_id"`
	Who, Text string
	Tool      string
	Failure   string
	Aside     bool
	Subagent  bool
	Bytes     int
	Reason    string
}

func (m *team) logs(args ...string) []logLine {
	m.Helper()
	var all []logLine
	for line := range strings.Lines(m.OK(append([]string{"logs", "--json"}, args...)...)) {
		var l logLine
		if err := json.Unmarshal([]byte(line), &l); err != nil {
			m.Fatalf("%v: %s", err, line)
		}
		all = append(all, l)
	}
	return all
}

// said is a conversation in short: who and the beginning of what.
func said(all []logLine) string {
	var b strings.Builder
	for _, l := range all {
		first, _, _ := strings.Cut(l.Text, "\n")
		b.WriteString(l.Who + l.Failure + ": " + first + "\n")
	}
	return b.String()
}

// What was said, used, failed and compacted, and the conversations to which a branch and a /clear lead.
func TestLogsOfARealConversation(t *testing.T) {
	m := eachVersion(t)
	m.OK("spawn", "alpha", "--model", "sonnet")
	m.SaysAndHears("alpha", "Remember 42.", "OK, I will remember 42.")
	m.SaysAndHears("alpha", `[[tool Bash {"command":"echo from-$((20+2))-tool","description":"say"}]]`, "agent: Tool said: from-22-tool")
	m.SaysAndHears("alpha", "[[error 403 times=1]] oops", "agent, API error authentication_failed: ")
	m.Reply("alpha", "More. [[usage 120000]]")
	before := m.Session("alpha").SessionID
	done := m.compact(0, "Keep", "the number.")
	m.Check(done.Before != nil && done.After != nil && done.Before.Tokens >= 120_000 && done.After.Tokens <= 12_000 && !done.Floor, "%+v", done)
	want := regexp.MustCompile(`^you: Remember 42\.
agent: OK, I will remember 42\.
you: \[\[tool Bash .*
agent: Tool said: from-22-tool
you: \[\[error 403 times=1\]\] oops
agentauthentication_failed: .*403.*
you: More\..*
agent: You said: More\..*
compacted: the conversation was compacted \(manual\), from \d+ tokens
you: /compact Keep the number\.
$`)
	got := said(m.logs("alpha"))
	m.Check(want.MatchString(got), "the conversation:\n%s", got)
	m.MustSay(said(m.logs("alpha", "--tools")), `tool: {"command":"echo from-$((20+2))-tool"`, "tool: from-22-tool\n", "claude: This session is being continued")
	m.mustSayWhatACompactionCameTo()
	m.Check(m.Session("alpha").SessionID == before, "a compaction leads to another conversation")
	m.mustFollowIntoOtherConversations()
}

// compaction is what compact --json tells.
type compaction struct {
	Before, After *struct{ Tokens int }
	Floor         bool
	Reason        string
}

func (m *team) compact(code int, words ...string) (got compaction) {
	m.Helper()
	r := m.NBS(append([]string{"compact", "--json", "alpha"}, words...)...)
	if err := json.Unmarshal([]byte(r.Stdout), &got); err != nil || r.Code != code {
		m.Fatalf("compact: %v, %s", err, r)
	}
	return got
}

// mustSayWhatACompactionCameTo compacts where nothing more can be freed, where the API fails and where a person interrupts.
func (m *team) mustSayWhatACompactionCameTo() {
	m.Helper()
	got := m.compact(1)
	m.Check(got.Floor, "nothing more: %+v", got)
	m.Reply("alpha", "hello")
	got = m.compact(1, "[[error 400]]")
	m.Check(!got.Floor && strings.Contains(got.Reason, "API Error: 400"), "%+v", got)
	going := m.Begin("compact", "alpha", "[[delay 1m]]")
	m.WaitSession("alpha", "is compacting", func(s e2e.Session) bool { return s.State == "busy" && s.Cause == "compacting" })
	m.interrupt("interrupted")
	m.mustEnd(going, 1, "", "the transcript does not contain the end: a person interrupted it, or Claude compacted and did not record it")
}

// mustFollowIntoOtherConversations reads on while the agent branches and clears.
func (m *team) mustFollowIntoOtherConversations() {
	m.Helper()
	before := m.WaitState("alpha", "idle")
	reading := m.follow("logs", "alpha", "--follow", "-n", "1")
	m.SaysAndHears("alpha", "Remember 55.", "OK, I will remember 55.")
	reading.mustShow("agent: OK, I will remember 55.")
	m.TypeLine(before, "/branch")
	reading.mustShow("---- conversation ")
	m.WaitArrived("alpha")
	m.TypeLine(before, "Remember 66.")
	reading.mustShow("agent: OK, I will remember 66.")
	m.TypeLine(before, "/clear")
	m.WaitFor("two changes are announced", func() (bool, string) {
		text := reading.seen.String()
		return strings.Count(text, "---- conversation ") == 2, text
	})
	m.WaitArrived("alpha")
	m.TypeLine(before, "Remember 77.")
	reading.mustShow("agent: OK, I will remember 77.")
	shown := reading.seen.String()
	m.Check(strings.Count(shown, "OK, I will remember 55.") == 1 && !strings.Contains(shown, "Remember 42"), "what a branch copies is shown twice:\n%s", shown)
	m.OK("stop", "alpha")
	m.Refused(5, "does not run", "compact", "alpha")
	text := m.OK("logs", "alpha", "--all")
	m.MustSayOnce(text, "you: Remember 42.", "you: Remember 77.")
	m.MustSay(text, "---- conversation "+before.SessionID)
	m.OK("dismiss", "alpha")
	err := reading.wait()
	m.Check(err == nil, "after the dismissal: %v\n%s", err, reading.seen.String())
}

// follower is a command that goes on, and what it has said so far.
type follower struct {
	*team
	cmd  *exec.Cmd
	seen e2e.LockedBuffer
}

func (m *team) follow(args ...string) *follower {
	m.Helper()
	r := &follower{team: m, cmd: m.Command(args)}
	r.cmd.Stdout, r.cmd.Stderr = &r.seen, &r.seen
	m.Must(r.cmd.Start())
	m.Cleanup(func() {
		if r.cmd.ProcessState == nil {
			_ = r.cmd.Process.Kill()
			_ = r.cmd.Wait()
		}
	})
	return r
}

func (r *follower) mustShow(words string) {
	r.Helper()
	r.WaitFor("it shows "+words, func() (bool, string) { return strings.Contains(r.seen.String(), words), r.seen.String() })
}

func (r *follower) wait() error { return r.cmd.Wait() }

// mustEndInterrupted sends what Ctrl-C sends.
func (r *follower) mustEndInterrupted() {
	r.Helper()
	r.Must(r.cmd.Process.Signal(syscall.SIGINT))
	_ = r.cmd.Wait() // the code tells
	code := r.cmd.ProcessState.ExitCode()
	r.Check(code == 130, "interrupted: exit code %d\n%s", code, r.seen.String())
}

func TestFollowedLogsBeginWithTheTranscript(t *testing.T) {
	m := standIn(t)
	m.OK("spawn", "alpha")
	reading := m.follow("logs", "alpha", "--follow")
	s := m.WaitState("alpha", "idle")
	m.TypeLine(s, "Remember 42.")
	reading.mustShow("you: Remember 42.")
	reading.mustEndInterrupted()
}

// plantTranscript puts records into the transcript of an agent that nobody runs.
func (m *team) plantTranscript(handle string, lines ...string) (path string) {
	m.Helper()
	m.OK("spawn", handle)
	m.OK("stop", handle)
	path = filepath.Join(m.World.ConfigDir, "projects", "-any", m.Record(handle)["session_id"].(string)+".jsonl")
	m.Write(path, strings.Join(lines, "\n")+"\n")
	return path
}

// says is a record of a transcript; a word in front of the text names its kind.
func says(uuid, parent, text string) string {
	kind, message := "user", map[string]any{"content": text}
	if rest, isAgent := strings.CutPrefix(text, "agent "); isAgent {
		kind, message = "assistant", map[string]any{"model": "m", "content": []any{map[string]any{"type": "text", "text": rest}}}
	}
	record := map[string]any{"type": kind, "uuid": uuid, "timestamp": "2026-02-20T11:44:07.5Z", "message": message}
	if parent != "" {
		record["parentUuid"] = parent
	}
	line, _ := json.Marshal(record) // of words
	return string(line)
}

// A transcript that somebody deletes is written anew, and one that is put together again is
// another file: each message is shown once, and none is missed.
func TestFollowedLogsOutliveTheirTranscript(t *testing.T) {
	m := standIn(t)
	lines := []string{says("1", "", "first"), says("2", "1", "agent one"), says("3", "2", "third")}
	path := m.plantTranscript("alpha", lines...)
	reading := m.follow("logs", "alpha", "--follow")
	reading.mustShow("you: third\n")
	anew := says("4", "3", "anew")
	m.Replace(path, []byte(anew+"\n"))
	reading.mustShow("you: anew\n")
	m.Replace(path, []byte(strings.Join(append(lines, anew, says("5", "4", "agent together")), "\n")+"\n"))
	reading.mustShow("agent: together\n")
	m.MustSayOnce(reading.seen.String(), "first", "one", "third", "anew", "together")
}

// A transcript that is cut while it is followed is read from its beginning, which is said.
func TestFollowedLogsOfATranscriptThatIsCut(t *testing.T) {
	m := standIn(t)
	path := m.plantTranscript("alpha", says("1", "", "first"), says("2", "1", "agent one"))
	reading := m.follow("logs", "alpha", "--follow")
	reading.mustShow("agent: one\n")
	m.Must(os.Truncate(path, 0))
	m.Write(path, says("3", "", "another beginning")+"\n")
	reading.mustShow("note: the transcript was cut or replaced; what follows is from its beginning\n")
	reading.mustShow("you: another beginning\n")
	reading.mustEndInterrupted()
}
