package chat

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"nbs-worker/internal/sim/rig"
)

// doctor tells of a turn that waits for a person; a claude that answers in a conversation is listed as what it is, and
// cannot be adopted.
func TestWhatSeesAConversation(t *testing.T) {
	m := standIn(t)
	m.Env = append(m.Env, "CLAUDE_CODE_MAX_RETRIES=1")
	if r := m.NBS("ask", "review", "[[error 401]] hello"); r.Code != 8 || !strings.Contains(r.Stderr, "conversation retry 'review'") {
		t.Errorf("a turn without a login: %s", r)
	}
	waiting := m.NBS("doctor").Stdout
	m.Check(strings.Contains(waiting, "turn 1 of the conversation") && strings.Contains(waiting, "conversation skip 'review'"), "doctor does not tell of it:\n%s", waiting)
	m.OK("conversation", "skip", "review")

	asking := m.Begin("ask", "other", "[[delay 10m]] hello")
	pid := m.NobodyToAdopt("answers a conversation of nbs-worker ask")
	told := m.NBS("doctor").Stdout
	m.Check(!strings.Contains(told, fmt.Sprintf("pid %d, and the process that started it has ended", pid)), "doctor wonders about a turn that runs:\n%s", told)
	m.Must(asking.Process.Signal(syscall.SIGINT))
	if r := asking.End(); r.Code != 130 || !strings.Contains(r.Stderr, "conversation skip 'other' 1") {
		t.Errorf("an interrupted turn: %s", r)
	}
}

// A request that somebody has damaged keeps nobody from seeing what waits elsewhere.
func TestQueueBesideADamagedRequest(t *testing.T) {
	m := standIn(t)
	m.Env = append(m.Env, "CLAUDE_CODE_MAX_RETRIES=1")
	for _, key := range []string{"damaged", "whole"} {
		rig.Equal(m, m.NBS("ask", key, "[[error 401]] hello").Code, 8, "of a turn without a login")
	}
	requests, err := filepath.Glob(filepath.Join(m.World.Project, ".nbs/conversations/pending/*"))
	m.Must(err)
	for _, request := range requests {
		text, err := os.ReadFile(request)
		m.Must(err)
		if strings.Contains(m.NBS("conversation", "queue", "damaged").Stdout, "hello") {
			m.Write(request, strings.Replace(string(text), "hello", "theirs", 1))
			if strings.Contains(m.NBS("conversation", "queue", "damaged").Stdout, "hello") {
				m.Write(request, string(text)) // it was the other one's
			}
		}
	}
	r := m.NBS("conversation", "queue")
	m.Check(r.Code == 8 && strings.HasPrefix(r.Stdout, "whole\t1\theld\t") && strings.Count(r.Stdout, "\n") == 1, "%s", r)
}
