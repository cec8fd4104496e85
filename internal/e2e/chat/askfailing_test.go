package chat

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"nbs-worker/internal/sim/rig"
)

// A failure of the API loses no conversation: the turn is answered later, or held until a retry, and the next one knows
// what was said.
func TestAConversationSurvivesErrors(t *testing.T) {
	m := standIn(t)
	m.Chats()
	id := m.Says("review", "Remember 42.", "OK, I will remember 42.").SessionID
	m.Says("review", "[[error 529]] hello", "You said: [[error 529]] hello")
	m.Ask(8, "review", "[[error 429]] hello")
	open := m.keyed("review").Open
	m.Check(len(open) == 1 && open[0].State == "held" && open[0].Class == "limit" && open[0].Reason != "", "%+v", open)
	m.MustPrint("You said: [[error 429]] hello\n", "conversation", "retry", "review")
	last := m.Says("review", "What number?", "42")
	m.Check(last.SessionID == id && last.Continuity == "resumed", "%+v", last)
}

// After a new login, one command has all held turns answered, and says which; what fails again is told beside them.
func TestRetryAllTriesEachHeldTurn(t *testing.T) {
	m := standIn(t)
	m.Chats()
	m.Env = append(m.Env, "CLAUDE_CODE_MAX_RETRIES=1")
	for key, text := range map[string]string{"telegram:1": "[[error 401]] one", "review": "[[error 429]] two", "damaged": "[[error 401]] three"} {
		m.Ask(8, key, text)
	}
	requests, err := filepath.Glob(filepath.Join(m.World.Project, ".nbs/conversations/pending/*"))
	m.Must(err)
	for _, request := range requests {
		m.Write(request, strings.Replace(string(m.BytesOf(request)), "three", "more", 1))
	}
	r := m.NBS("conversation", "retry", "--all")
	m.Check(r.Code == 7 && strings.Contains(r.Stdout, "telegram:1: turn 1 is answered\n") && strings.Contains(r.Stdout, "review: turn 1 is answered\n"), "%s", r)
	m.Check(strings.Count(r.Stdout, "\n") == 2 && strings.Contains(r.Stderr, "nbs-worker: conversation retry damaged: "), "%s", r)
	m.OK("conversation", "skip", "damaged")
	m.MustPrint("", "conversation", "retry", "--all")
	m.Refused(4, "a key and --all exclude each other", "conversation", "retry", "review", "--all")
}

// However often a runner is killed before its claude has the text, the turn is a new one, and is answered.
func TestKilledRunnersBlockNoKey(t *testing.T) {
	m := eachVersion(t)
	m.Chats()
	ready := filepath.Join(m.Dir, "READY")
	m.Env = append(m.Env, "NBS_CLAUDE="+m.Script("test -e "+ready+" || exec sleep 600; exec "+m.Variable("NBS_CLAUDE")+` "$@"`))
	for range 4 {
		ask := m.Begin("ask", "review", "Remember 42.", "--id", "once")
		m.WaitFor("claude starts", func() (bool, string) {
			queue := m.NBS("conversation", "queue").Stdout
			return strings.HasPrefix(queue, "review\t1\trunning\t1\t"), queue
		})
		m.Kill(ask.Process.Pid, syscall.SIGKILL)
		ask.End()
	}
	m.Write(ready, "")
	m.Says("review", "Remember 42.", "OK, I will remember 42.", "--id", "once")
	rig.Equal(m, strings.Count(m.OK("conversation", "history", "review"), "Remember 42."), 1, "texts")
}
