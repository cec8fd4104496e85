package conversations

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"

	"nbs-worker/internal/fail"
	"nbs-worker/internal/sim/rig"
	"nbs-worker/internal/store/storetest"
)

// A writer is killed before each of its system calls in turn. What it had begun has happened or has not,
// nothing that was accepted is lost, no number is given twice, and the next writer leaves nothing half done.

// roles are what the killed writers do to a conversation of which turn 1 has begun and turn 2 waits.
var roles = map[string]func(ctx context.Context, c *Conversation) error{
	"enqueue": enqueue3,
	"begin":   func(ctx context.Context, c *Conversation) error { return c.Begin(ctx, start(1)) },
	"finish":  func(ctx context.Context, c *Conversation) error { return c.Finish(ctx, answered(1, "OK.")) },
	"reset": func(ctx context.Context, c *Conversation) error {
		_, err := c.Reset(ctx, "asked for", func(m *Meta) error { m.SystemPrompt = "another"; return nil })
		return err
	},
	"replace": func(ctx context.Context, c *Conversation) error {
		_, err := c.Replace(ctx, "b", "two, as edited")
		return err
	},
	"compact": func(ctx context.Context, c *Conversation) error {
		c.compactAbove = 1
		return enqueue3(ctx, c)
	},
}

func enqueue3(ctx context.Context, c *Conversation) error {
	_, _, err := c.Enqueue(ctx, Meta{}, asked("c", "three"))
	return err
}

// playRole makes the test binary another nbs-worker: a role and a project.
func playRole(words []string) {
	if words[0] == "count-up" {
		storetest.Must(rig.CountUp(len(words) > 2, counter(context.Background(), words[1])))
		return
	}
	runtime.LockOSThread() // strace counts the calls of each thread
	if err := roles[words[0]](context.Background(), open(words[1]).Of(chat)); err != nil {
		fmt.Println(err, fail.HintsOf(err))
		os.Exit(1)
	}
}

func TestKilledWriterLosesNothingAndLeavesNothingHalf(t *testing.T) {
	t.Parallel()
	for role := range roles {
		t.Run(role, func(t *testing.T) {
			t.Parallel()
			seen := map[bool]int{}
			points := rig.EachKill(t, rig.FileCalls, func() (*exec.Cmd, func(bool)) {
				d, project := inProject(t)
				c := d.Of(chat)
				mustEnqueue(t, c, asked("a", "one"))
				mustEnqueue(t, c, asked("b", "two"))
				rig.Must(t, c.Begin(t.Context(), start(1)))
				before := mustState(t, c)
				return rig.Command(role, project), func(killed bool) {
					happened := checkKilled(t, role, c, before)
					rig.Check(t, happened || killed, "%s was not killed, and nothing happened", role)
					seen[happened]++
					checkUsable(t, c)
				}
			})
			rig.Check(t, points >= 10 && seen[false] > 0 && seen[true] >= 2, "%d points, after %d of which it had happened", points, seen[true])
		})
	}
}

// checkKilled checks that all of what a role does has happened, or nothing, and tells which.
func checkKilled(t *testing.T, role string, c *Conversation, before State) (happened bool) {
	t.Helper()
	now := mustState(t, c)
	if inWords(t, now) == inWords(t, before) {
		_, there, err := c.Result("a")
		rig.Check(t, err == nil && !there, "there is a result of an open turn: %v", err)
		return false
	}
	result, there, err := c.Result("a")
	rig.Must(t, err)
	switch role {
	case "finish":
		rig.Check(t, there && result.Answer == "OK." && len(now.Open) == 1 && now.Session == Session{storetest.AliceID, true}, "%+v, %+v", result, now)
	case "reset":
		rig.Check(t, len(now.Previous) == 1 && now.TellReset != nil && now.Session == Session{} && now.Meta.SystemPrompt == "another", "%+v", now)
	case "replace":
		request, err := c.Request(2)
		rig.Check(t, err == nil && request.Text == "two, as edited" && now.Open[1].Edits == 1 && now.Open[1].SHA != before.Open[1].SHA, "%+v, %+v, %v", now, request, err)
	case "enqueue", "compact":
		rig.Check(t, len(now.Open) == 3 && now.Next == 4, "%+v", now)
	}
	return true
}

// checkUsable checks that the next command finds all open turns and its lock free, gives the next number,
// and leaves no file of anybody who was killed.
func checkUsable(t *testing.T, c *Conversation) {
	t.Helper()
	before := mustState(t, c)
	for _, turn := range before.Open {
		_, err := c.Request(turn.Seq)
		rig.Must(t, err)
	}
	keys, err := c.WithWork()
	rig.Check(t, err == nil && len(keys) == 1, "%v, %v", keys, err)
	next := mustEnqueue(t, c, asked("next", "four"))
	rig.Check(t, next.Seq == before.Next, "turn %d; want %d", next.Seq, before.Next)
	if again := mustEnqueue(t, c, asked("c", "three")); before.withID("c") == nil {
		rig.Check(t, again.Seq == next.Seq+1, "%+v", again)
	}
	var want []string
	for _, turn := range mustState(t, c).Open {
		want = append(want, pendingFile(c.hash, turn.Seq, turn.Edits))
	}
	storetest.WantNames(t, c.nbs.Path(pendingFolder), want...)
	storetest.WantNames(t, c.Path(), journalFile, metaFile, results)
}

// The very first turn of a conversation is accepted or not.
func TestKilledFirstTurnIsAcceptedOrNot(t *testing.T) {
	t.Parallel()
	rig.EachKill(t, rig.FileCalls, func() (*exec.Cmd, func(bool)) {
		d, project := inProject(t)
		return rig.Command("enqueue", project), func(killed bool) {
			c := d.Of(chat)
			keys, err := d.WithWork()
			rig.Check(t, err == nil && (killed || len(keys) == 1), "%v, %v", keys, err)
			turn := mustEnqueue(t, c, asked("c", "three"))
			next := mustEnqueue(t, c, asked("d", "four"))
			rig.Check(t, turn.Seq == 1 && next.Seq == 2, "%+v, %+v", turn, next)
			storetest.WantNames(t, c.nbs.Path(pendingFolder), pendingFile(c.hash, 1, 0), pendingFile(c.hash, 2, 0))
			storetest.WantNames(t, c.Path(), journalFile, metaFile, results)
		}
	})
}

// A disk that refuses a write, or a sync, loses nothing, and what was refused has not happened.
func TestDiskErrorChangesNothing(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		role, call, how string
		n               int
		says            string
	}{
		{"enqueue", "write", "error=ENOSPC", 1, "make room there"},
		{"enqueue", "write", "error=ENOSPC", 2, "make room there"},
		{"enqueue", "fsync", "error=EIO", 3, "input/output error"},
		{"begin", "write", "error=EDQUOT", 1, "make room there"},
		{"begin", "fsync", "error=EIO", 1, "input/output error"},
		{"finish", "write", "error=ENOSPC", 1, "make room there"},
		{"finish", "write", "error=ENOSPC", 2, "make room there"},
		{"reset", "write", "error=ENOSPC", 1, "make room there"},
	} {
		t.Run(fmt.Sprintf("%s %s %d %s", c.role, c.call, c.n, c.how), func(t *testing.T) {
			t.Parallel()
			d, project := inProject(t)
			conversation := d.Of(chat)
			mustEnqueue(t, conversation, asked("a", "one"))
			before := inWords(t, mustState(t, conversation))
			out, end := rig.Tampered(t, rig.Command(c.role, project), c.call, c.how, c.n)
			rig.Check(t, end.ExitStatus() == 1 && strings.Contains(out, c.says), "exit code %d: %s", end.ExitStatus(), out)
			rig.Equal(t, inWords(t, mustState(t, conversation)), before, "the state")
			mustEnqueue(t, conversation, asked("next", "two"))
			storetest.WantNames(t, d.nbs.Path(pendingFolder), pendingFile(conversation.hash, 1, 0), pendingFile(conversation.hash, 2, 0))
		})
	}
}
