package campaign

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"nbs-worker/internal/e2e"
	"nbs-worker/internal/sim/rig"
)

// standardMessages is how many messages the torture sends to an agent of each version; NBS_MESSAGES says otherwise.
const standardMessages = 15

// TestMessageTorture sends messages of all kinds to agents that are idle, streaming, in a tool, compacting, at a
// permission prompt, looked back in, failing, dying and dead. The transcripts are the referee: each receipt is true,
// nothing is delivered twice, no dialog is answered, and no command runs that only a message contained.
func TestMessageTorture(t *testing.T) {
	n := e2e.Number(t, "NBS_MESSAGES", standardMessages)
	m := eachVersion(t)
	m.OK("spawn", "alpha", "--model", "sonnet", "--permission-mode", "default")
	receipts := make([]e2e.Receipt, n)
	next := make(chan int)
	var senders sync.WaitGroup
	for range 3 {
		senders.Go(func() {
			for i := range next {
				receipts[i] = m.sendAny(message(i), i)
			}
		})
	}
	over := make(chan struct{})
	var person sync.WaitGroup
	person.Go(func() { m.actUp(over) })
	for i := range n {
		next <- i
	}
	close(next)
	senders.Wait()
	close(over)
	person.Wait()
	m.flush()
	m.judge(receipts)
}

// TestQuestionsGetTheirOwnAnswers has several people ask one agent at once: each gets the answer of the turn that
// its own question began.
func TestQuestionsGetTheirOwnAnswers(t *testing.T) {
	n := e2e.Number(t, "NBS_MESSAGES", standardMessages)
	m := eachVersion(t)
	m.OK("spawn", "alpha", "--model", "sonnet")
	next := make(chan int)
	var askers sync.WaitGroup
	for range 3 {
		askers.Go(func() {
			for i := range next {
				question := fmt.Sprintf("question <<%d>>", i)
				got := m.NBS("send", "alpha", question, "--wait-reply", "--timeout", e2e.Patience())
				m.Check(got.Code == 0 && got.Stdout == "You said: "+question+"\n", "%s: %s", question, got)
			}
		})
	}
	for i := range n {
		next <- i
	}
	close(next)
	askers.Wait()
}

// message is the text of a message by its number, which is in it.
func message(i int) string {
	mark := fmt.Sprintf("<<%d>>", i)
	return []string{
		"plain " + mark, "[[slow 50ms]] streams " + mark, "[[error 400]] fails " + mark, "two\nlines " + mark, mark + ` [[tool Bash {"command":"sleep 0.2"}]]`,
		mark + ` [[tool Bash {"command":"touch PWN","description":"make it"}]]`, "trailing " + mark + ` \`, "ü 漢 🤷🏽 #(touch PWN) $(touch PWN); `touch PWN` " + mark,
		"@none " + mark, strings.Repeat("long ", 200) + mark, "a\ttab " + mark, "[[delay 300ms]] later " + mark, mark + "?", "/compact " + mark, "exit " + mark,
	}[i%15]
}

// sendAny sends a message in the way that it takes, and does not judge yet.
func (m *team) sendAny(text string, i int) (got e2e.Receipt) {
	args := []string{"send", "--json", "--timeout", rig.Scaled(20 * time.Second).String()}
	switch {
	case strings.HasPrefix(text, "/"):
		args = append(args, "--raw")
	case i%7 == 0:
		args = append(args, "--wait-reply")
	case isKept(i):
		args = append(args, "--queue")
	}
	for {
		out, _ := m.Command(append(args, "alpha", "--", text)).Output() // the receipt tells
		var all []e2e.Receipt
		if err := json.Unmarshal(out, &all); err != nil || len(all) != 1 {
			m.Errorf("message %d: %v, %s", i, err, out)
			return e2e.Receipt{Receipt: "unknown"}
		}
		switch got := all[0]; {
		case got.Receipt != "held" || got.Outbox != "": // what was held is sent again; had it arrived, it would be there twice
			return got
		case strings.Contains(got.Reason, "does not run"):
			m.NBS("resume", "alpha", "--timeout", e2e.Patience()) // another sender may be quicker
		}
	}
}

// isKept reports whether a message goes by the outbox, when it cannot be typed at once. What goes by a file
// too is not found by its text.
func isKept(i int) bool {
	text := message(i)
	return i%4 == 1 && len(text) < 500 && !strings.ContainsAny(text[:1], "/") && !strings.Contains(text, "\t")
}

// flush has everything delivered that is kept.
func (m *team) flush() {
	m.Helper()
	pane := "=" + m.Session("alpha").TmuxSession + ":"
	m.WaitFor("what is kept to be delivered", func() (bool, string) {
		m.NBS("resume", "alpha", "--timeout", e2e.Patience()) // it may run
		m.Tmux("send-keys", "-t", pane, "-X", "cancel")
		if m.Entry().Status == "waiting" {
			m.Tmux("send-keys", "-t", pane, "Escape")
		}
		m.NBS("outbox", "deliver", "alpha")
		text := m.OK("outbox", "list")
		return !strings.Contains(text, "\twaiting\t") && !strings.Contains(text, "\tsending\t"), text
	})
}

// actUp is a person who looks back in the pane, refuses permissions and kills claude and who delivers.
func (m *team) actUp(over <-chan struct{}) {
	chance := rand.New(rand.NewPCG(1, 2))
	pane := "=" + m.Session("alpha").TmuxSession + ":"
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-over:
			return
		case <-tick.C:
		}
		m.Tmux("send-keys", "-t", pane, "-X", "cancel") // whether or not somebody looked back
		switch e := m.Entry(); {
		case e.Status == "waiting":
			m.Tmux("send-keys", "-t", pane, "Escape")
		case chance.IntN(40) == 0:
			m.Tmux("copy-mode", "-t", pane)
		case chance.IntN(20) == 0:
			m.KillDeliverers()
		case chance.IntN(200) == 0:
			if s := m.Session("alpha"); s.PID > 1 {
				_ = syscall.Kill(s.PID, syscall.SIGKILL) // it may have ended meanwhile
			}
		}
	}
}

// judge compares receipts with what the transcripts have.
func (m *team) judge(receipts []e2e.Receipt) {
	m.Helper()
	taken, left := m.takenUp(), fmt.Sprint(m.Outbox())
	count := map[string]int{}
	for i, got := range receipts {
		mark := fmt.Sprintf("<<%d>>", i)
		isLeft := strings.Contains(left, mark)
		if got.Outbox != "" {
			got.Receipt = "kept"
		}
		count[got.Receipt]++
		if got.Channel == "file" {
			mark = filepath.Base(got.File)
		}
		times := 0
		for _, text := range taken {
			times += strings.Count(text, mark)
		}
		switch {
		case got.Receipt == "accepted" && times != 1, times > 1, got.Receipt == "kept" && times == 0 && !isLeft:
			m.Errorf("message %d (%.40q): %+v, and it stands %d times in the transcripts", i, message(i), got, times)
		case got.Receipt == "accepted" && !strings.Contains(taken[got.UUID], mark):
			m.Errorf("message %d: its record %s is %.100q", i, got.UUID, taken[got.UUID])
		case got.Receipt == "accepted" && got.Channel == "typed" && strings.TrimSpace(taken[got.UUID]) != strings.TrimSpace(message(i)) && !strings.HasPrefix(message(i), "/"):
			m.Errorf("message %d arrived as %q; want %q", i, taken[got.UUID], message(i))
		case got.Reply != nil && !strings.Contains(*got.Reply, mark) && !strings.Contains(*got.Reply, "Tool said: "):
			m.Errorf("message %d: the reply %q is of another turn", i, *got.Reply)
		}
	}
	for _, got := range receipts {
		if got.Receipt != "accepted" {
			count[got.Reason]++
		}
	}
	m.Logf("receipts: %v", count)
	m.Check(count["accepted"]+count["kept"] >= len(receipts)*8/10, "most should arrive, and be known to: %v", count)
	m.Check(!e2e.Exists(filepath.Join(m.Dir, "PWN")), "a command ran that only a message contained, or a dialog was answered")
}

// takenUp are the texts that Claude took, by the records in which they stand.
func (m *team) takenUp() map[string]string {
	m.Helper()
	taken := map[string]string{}
	files, _ := filepath.Glob(filepath.Join(m.World.ConfigDir, "projects", "*", "*.jsonl"))
	for _, file := range files {
		data, err := os.ReadFile(file)
		m.Must(err)
		for line := range strings.Lines(string(data)) {
			var r struct {
				Type, UUID string
				IsMeta     bool
				Message    struct{ Content any }
				Attachment struct{ Type, Prompt string }
			}
			_ = json.Unmarshal([]byte(line), &r) // one that was cut short by a kill is none
			if text, is := r.Message.Content.(string); is && r.Type == "user" && !r.IsMeta {
				taken[r.UUID] = text
			}
			if r.Attachment.Type == "queued_command" {
				taken[r.UUID] = r.Attachment.Prompt
			}
		}
	}
	return taken
}
