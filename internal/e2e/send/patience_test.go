package send

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"nbs-worker/internal/e2e"
	"nbs-worker/internal/sim/rig"
)

// A verb that waits for more than a second says for whom, for what and how long, and what else there is.
func TestWaitsAreNotSilent(t *testing.T) {
	m := standIn(t)
	m.OK("spawn", "alpha", "--model", "sonnet")
	m.OK("spawn", "beta", "--model", "sonnet", "--permission-mode", "bypassPermissions")
	m.Send(0, "accepted", "alpha", "[[delay 10m]] slow")
	m.WaitSession("alpha", "has been busy for longer than a look takes", func(s e2e.Session) bool { return s.State == "busy" && s.StateAgeMS != nil && *s.StateAgeMS > 1000 })
	const queue = "; --queue keeps the message instead"
	for line, want := range map[string]string{
		"send alpha again":              `^nbs-worker: send alpha: it is busy for \d+[sm]; waiting until it is ready, for at most 3s` + queue + `\n`,
		"send alpha again --wait-reply": `^nbs-worker: send alpha: it is busy for \d+[sm]; waiting until it is ready, for at most 3s\n`,
		"send --all again --json":       `(?m)^{"note":"nbs-worker: send alpha: it is busy for .*` + queue + `"}\n`,
		"ask @alpha again":              `^nbs-worker: ask alpha: it is busy for \d+[sm]; waiting until it is ready, for at most 3s\n`,
		"compact alpha":                 `^nbs-worker: compact alpha: it is busy for \d+[sm]; waiting until it is ready, for at most 3s\n`,
		"wait alpha beta --for idle":    `^nbs-worker: wait: alpha is busy(; beta is busy)?; waiting until idle, for at most 3s\n`,
	} {
		r := m.NBS(append(strings.Fields(line), "--timeout", "3s")...)
		m.Check(regexp.MustCompile(want).MatchString(r.Stderr), "%s: %s; want %s", line, r, want)
		isSend := strings.HasPrefix(line, "send alpha again") && !strings.HasSuffix(line, "reply")
		m.Check(!isSend || r.Code == 3 && strings.Contains(r.Stderr, "\nhint: to have it typed when the agent is ready, add --queue\n"), "%s: %s", line, r)
	}
	// The shell of an agent's tool gives up after two minutes, and what it calls before that.
	in := m.AsAgent("beta", "timeout -s INT 3 nbs-worker wait alpha --for gone", "timeout -s INT 3 nbs-worker send alpha x", "nbs-worker wait alpha --for gone --timeout 1ms")
	for i, want := range []string{`^nbs-worker: wait: alpha is busy; waiting until gone, for at most 1m30s\n`, `^nbs-worker: send alpha: it is busy for .*, for at most 1m30s` + queue, `^nbs-worker: wait: not gone within 1ms: alpha is busy\n[^h]`} {
		m.Check(regexp.MustCompile(want).MatchString(in[i]), "an agent's: %s; want %s", in[i], want)
	}
	// What is over within a second is told by its end alone.
	rig.Equal(m, m.NBS("wait", "alpha", "--for", "busy", "--timeout", e2e.Patience()).Stderr, "", "a wait that is over")
	m.OK("stop", "alpha")
}

// Senders that wait for one busy agent all get through, those too that find new messages in its outbox each time they look.
func TestSendersWaitTogether(t *testing.T) {
	m := standIn(t)
	m.OK("spawn", "alpha", "--model", "sonnet")
	var want []string
	for round := range 2 {
		m.Send(0, "accepted", "alpha", fmt.Sprintf("[[delay 2s]] busy %d", round))
		var senders []*e2e.Running
		for i := range 6 {
			args := []string{"send", "alpha", fmt.Sprintf("round %d, sender %d", round, i), "--timeout", e2e.Patience()}
			if i%3 == 2 {
				args = append(args, "--queue")
			}
			want = append(want, args[2])
			senders = append(senders, m.Begin(args...))
		}
		for _, s := range senders {
			r := s.End()
			m.Check(r.Code == 0, "%s", r)
		}
	}
	m.awaitOutbox()
	said := m.prompts("alpha")
	for _, text := range want {
		n := len(said) - len(slices.DeleteFunc(slices.Clone(said), func(other string) bool { return other == text }))
		m.Check(n == 1, "%q stands %d times in the transcript", text, n)
	}
}
