package message

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/sim/rig"
	"nbs-worker/internal/store/queue"
	"nbs-worker/internal/store/storetest"
)

// onNode has alpha in a job on the node n1. srun calls meanwhile with what waits for it, and then runs a script.
func onNode(t *testing.T, script string, meanwhile func(*queue.Queue, queue.Entry)) *Sender {
	t.Helper()
	s := newSender(t)
	dir := t.TempDir()
	begun, over := filepath.Join(dir, "begun"), filepath.Join(dir, "over")
	rig.Must(t, syscall.Mkfifo(begun, 0o600))
	rig.Must(t, syscall.Mkfifo(over, 0o600))
	for name, text := range map[string]string{
		"scontrol": "echo 'ClusterName = rig'",
		"squeue":   "echo '12|RUNNING|n1|nbs-a|None'",
		"srun":     "echo >" + begun + "; read x <" + over + "; " + script,
	} {
		rig.WriteProgram(t, filepath.Join(dir, name), "#!/bin/sh\n"+text+"\n")
	}
	t.Setenv("PATH", dir+":/usr/bin:/bin")
	s.project.Env, s.project.Program = []string{"PATH=" + os.Getenv("PATH")}, "nbs-worker"
	_, err := s.project.Store.Update(t.Context(), "alpha", func(r *agent.Record) error {
		id := agent.Identity{Identified: agent.Identified{PID: 7, StartTicks: 7}, BootID: "another", PIDNS: 1, Host: "n1"}
		r.PID, r.Started, r.ConfigDir = 7, storetest.SomeTime(), dir
		r.Process = &agent.Process{Identity: id, Invocation: agent.NewInvocation(), Job: "slurm/rig/nbs-a"}
		return nil
	})
	rig.Must(t, err)
	done := make(chan struct{})
	go func() {
		defer close(done)
		if _, err := os.ReadFile(begun); err != nil {
			return
		}
		q := s.project.Store.Outbox("alpha")
		all, _ := q.Entries()
		meanwhile(q, all[0])
		_ = os.WriteFile(over, []byte("\n"), 0o600)
	}()
	t.Cleanup(func() { <-done })
	return s
}

const cut = "echo 'srun: error: the way is cut' >&2; exit 1"

// What becomes of a text, when no deliverer on the node says it, is read where it was put.
func TestWhatBecameOfATextOnANode(t *testing.T) {
	put := func(state queue.State) func(*queue.Queue, queue.Entry) {
		return func(q *queue.Queue, e queue.Entry) {
			e.State, e.Reason, e.Typing = state, "the reason", &queue.Typing{Typed: "x", Channel: Typed}
			storetest.Must(q.Put(t.Context(), e))
		}
	}
	waits := func(*queue.Queue, queue.Entry) {}
	for what, c := range map[string]struct {
		meanwhile  func(*queue.Queue, queue.Entry)
		sent, kept string // by send, and with --queue: the receipt, its file, what is in the outbox, and the error
	}{
		"waits":     {waits, "held||0|nothing was submitted", "held||1|"},
		"dropped":   {func(q *queue.Queue, e queue.Entry) { storetest.Must(q.Remove(t.Context(), e)) }, "held||0|not known to have been typed", "held||0|not known to have been typed"},
		"delivered": {func(q *queue.Queue, e queue.Entry) { storetest.Must(q.Deliver(t.Context(), e)) }, "accepted||0|", "accepted||0|"},
		"by a file": {func(q *queue.Queue, e queue.Entry) {
			e.Typing = &queue.Typing{File: "/p/x.md"}
			storetest.Must(q.Deliver(t.Context(), e))
		}, "accepted|x.md|0|", "accepted|x.md|0|"},
		"failed":  {put(queue.Failed), "held||1|the reason", "held||1|the reason"},
		"unknown": {put(queue.Unknown), "unknown||1|the reason", "unknown||1|the reason"},
	} {
		for _, script := range []string{"exit 0", cut} {
			for _, isKept := range []bool{false, true} {
				s := onNode(t, script, c.meanwhile)
				l, want := letter{text: "x"}, c.sent
				var receipt Receipt
				var typed string
				var err error
				if isKept {
					want = c.kept
					receipt, err = s.lineUp(t.Context(), "alpha", l)
				} else {
					receipt.Handle = "alpha"
					typed, err = s.byOutbox(t.Context(), &receipt, &start{}, &l, time.Now())
				}
				all, unread := s.project.Store.Outbox("alpha").Entries()
				rig.Must(t, unread)
				file, said := "", ""
				if receipt.File != "" {
					file = filepath.Base(receipt.File)
					rig.Check(t, isKept || strings.Contains(typed, receipt.File), "%s: what was typed is %q", what, typed)
				}
				if err != nil {
					said = err.Error()
				}
				got := string(receipt.Word) + "|" + file + "|" + string(rune('0'+len(all))) + "|"
				front := want[:strings.LastIndex(want, "|")+1]
				words := want[len(front):]
				rig.Check(t, got == front && (said == "") == (words == "") && strings.Contains(said, words), "%s, kept: %t, %s: %s%s; want %s", what, isKept, script, got, said, want)
			}
		}
	}
}

// A text that another deliverer has read, but has not begun to type, is taken back.
func TestTextIsTakenBackFromADeliverer(t *testing.T) {
	s := onNode(t, "exit 0", func(*queue.Queue, queue.Entry) {})
	unlock, err := s.project.Store.Outbox("alpha").AwaitTurn(t.Context(), time.Now())
	rig.Must(t, err)
	defer unlock()
	receipt := Receipt{Handle: "alpha"}
	_, err = s.byOutbox(t.Context(), &receipt, &start{}, &letter{text: "x"}, time.Now())
	rig.Check(t, fail.KindOf(err) == fail.TimedOut && receipt.Word == Held && s.project.Store.Outbox("alpha").Newest() == "", "%+v, %v", receipt, err)
}

// The exit code of a deliverer on a node is that of the sender.
func TestExitCodeOfADelivererOnANode(t *testing.T) {
	s := onNode(t, "echo 'nbs-worker: outbox deliver alpha: tmux is missing' >&2; echo 'hint: install it' >&2; exit 6", func(*queue.Queue, queue.Entry) {})
	receipt := Receipt{Handle: "alpha"}
	_, err := s.byOutbox(t.Context(), &receipt, &start{}, &letter{text: "x"}, time.Now())
	rig.Check(t, fail.KindOf(err) == fail.Unfit && err.Error() == "on the node n1: tmux is missing" && slices.Equal(fail.HintsOf(err), []string{"install it"}), "%v", err)
	rig.Check(t, receipt.Word == Held && s.project.Store.Outbox("alpha").Newest() == "", "%+v", receipt)
}
