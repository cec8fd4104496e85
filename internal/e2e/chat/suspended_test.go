package chat

import (
	"strings"
	"syscall"
	"testing"
	"time"

	"nbs-worker/internal/e2e"
)

// suspend stops a process, and lets it end with the test.
func (m *team) suspend(r *e2e.Running) {
	m.Helper()
	m.Kill(r.Process.Pid, syscall.SIGSTOP)
	m.Cleanup(func() {
		_ = r.Process.Kill() // it may have ended
		_ = r.Wait()
	})
}

// running waits until a turn of the conversation has begun.
func (m *team) running(key string) {
	m.Helper()
	m.WaitFor("a turn of "+key+" runs", func() (bool, string) {
		r := m.NBS("conversation", "queue", key)
		return strings.Contains(r.Stdout, "\trunning\t"), r.String()
	})
}

// gaveUp checks that a command has ended soon after its limit, with the words.
func (m *team) gaveUp(limit time.Duration, words, also string, args ...string) {
	m.Helper()
	begun := time.Now()
	r := m.Refused(3, words, args...)
	m.Check(strings.Contains(r.Stderr, also), "want %q, got %s", also, r)
	m.InTime(time.Since(begun), limit+10*time.Second)
}

// Who asks in a conversation that a suspended process holds gives up after its own limit, and says who is in the way.
func TestSuspendedAskerIsNotWaitedFor(t *testing.T) {
	m := standIn(t)
	m.Chats()
	holds := m.Begin("ask", "review", "[[delay 600s]] for long", "--timeout", "30m")
	m.running("review")
	m.suspend(holds)
	m.gaveUp(3*time.Second, "turn 1 of the conversation has not ended within 3s", "and is suspended; the text is kept as turn 2",
		"ask", "review", "hello", "--timeout", "3s")
	m.gaveUp(3*time.Second, "has not ended within 3s", "kill -CONT", "ask", "review", "again", "--timeout", "3s")
	m.Says("other", "hello", "You said: hello")
}

// A suspended server keeps no caller beyond its limit, nor from having its turn elsewhere.
func TestSuspendedServerIsNotWaitedFor(t *testing.T) {
	m := standIn(t)
	m.Chats()
	server := m.Begin("serve")
	m.WaitFor("the server runs", func() (bool, string) { return len(m.sockets()) == 1, server.Err.String() })
	asks := m.Begin("ask", "served", "[[delay 600s]] for long", "--timeout", "8s")
	m.running("served")
	m.suspend(server)
	begun := time.Now()
	m.MustRefuse(asks.End(), 3, "and is suspended")
	m.InTime(time.Since(begun), 18*time.Second)
	m.Says("other", "hello", "You said: hello")
	m.gaveUp(2*time.Second, "the server did not answer in time; it is unknown whether the text was written", "", "tell", "telegram:7", "hello", "--timeout", "2s")
}
