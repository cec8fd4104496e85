package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"nbs-worker/internal/sim/rig"
)

// doctor tells of a turn that waits for a person; a claude that answers in a conversation is listed as what it is,
// cannot be adopted, and holds no lease that doctor wonders about.
func TestWhatSeesAConversation(t *testing.T) {
	m := standIn(t)
	m.env = append(m.env, "CLAUDE_CODE_MAX_RETRIES=1")
	if r := m.nbs("ask", "review", "[[error 401]] hello"); r.code != 8 || !strings.Contains(r.stderr, "conversation retry 'review'") {
		t.Errorf("a turn without a login: %s", r)
	}
	waiting := m.nbs("doctor").stdout
	m.check(strings.Contains(waiting, "turn 1 of the conversation") && strings.Contains(waiting, "conversation skip 'review'"), "doctor does not tell of it:\n%s", waiting)
	m.ok("conversation", "skip", "review")

	asking := m.begin("ask", "other", "[[delay 10m]] hello")
	pid := m.nobodyToAdopt("answers in a conversation of nbs-worker ask")
	told := m.nbs("doctor").stdout
	m.check(!strings.Contains(told, "the lease on the conversation") && !strings.Contains(told, fmt.Sprintf("pid %d, and who ran it is gone", pid)), "doctor wonders about a turn that runs:\n%s", told)
	m.must(asking.Process.Signal(syscall.SIGINT))
	if r := asking.end(); r.code != 130 || !strings.Contains(r.stderr, "conversation skip 'other' 1") {
		t.Errorf("an interrupted turn: %s", r)
	}
}

// nobodyToAdopt waits for a claude of this world of which adopt --list says the words, and checks that it cannot be adopted.
func (m *team) nobodyToAdopt(words string) (pid int) {
	m.Helper()
	pid = m.waitListed(words)
	m.check(m.nbs("adopt", "other", "--pid", strconv.Itoa(pid)).code == 4, "it was adopted")
	return pid
}

// waitListed waits for a claude of this world of which adopt --list says the words.
func (m *team) waitListed(words string) int {
	m.Helper()
	var pid string
	m.waitFor("a claude that "+words, func() (bool, string) {
		out := m.ok("adopt", "--list")
		for line := range strings.Lines(out) {
			if strings.Contains(line, m.world.Root) && strings.Contains(line, words) { // not another test's
				pid, _, _ = strings.Cut(strings.TrimSpace(line), "\t")
			}
		}
		return pid != "", out
	})
	n, err := strconv.Atoi(pid)
	m.must(err)
	return n
}

// A request that somebody has damaged keeps nobody from seeing what waits elsewhere.
func TestQueueBesideADamagedRequest(t *testing.T) {
	m := standIn(t)
	m.env = append(m.env, "CLAUDE_CODE_MAX_RETRIES=1")
	for _, key := range []string{"damaged", "whole"} {
		rig.Equal(m, m.nbs("ask", key, "[[error 401]] hello").code, 8, "of a turn without a login")
	}
	requests, err := filepath.Glob(filepath.Join(m.world.Project, ".nbs/conversations/pending/*"))
	m.must(err)
	for _, request := range requests {
		text, err := os.ReadFile(request)
		m.must(err)
		if strings.Contains(m.nbs("conversation", "queue", "damaged").stdout, "hello") {
			m.write(request, strings.Replace(string(text), "hello", "theirs", 1))
			if strings.Contains(m.nbs("conversation", "queue", "damaged").stdout, "hello") {
				m.write(request, string(text)) // it was the other one's
			}
		}
	}
	r := m.nbs("conversation", "queue")
	m.check(r.code == 8 && strings.HasPrefix(r.stdout, "whole\t1\tdead\t") && strings.Count(r.stdout, "\n") == 1, "%s", r)
}
