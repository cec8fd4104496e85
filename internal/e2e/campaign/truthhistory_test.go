package campaign

import (
	"fmt"
	"slices"
	"sync"
	"time"
)

// What is known of an agent, from moment to moment, by those who change it.

// phase is what is so, or what is being done.
type phase string

const (
	absent   phase = "absent"
	alive    phase = "running"
	stopped  phase = "stopped"
	crashed  phase = "crashed"
	starting phase = "starting" // from the call of spawn or resume to its return
	dying    phase = "dying"    // from the kill until its launcher has left
	stopping phase = "stopping"
	leaving  phase = "leaving" // being dismissed
)

// span is a time in which an agent was in one phase.
type span struct {
	phase
	before        phase // of a phase in which something is done: what was so
	pid, launcher int   // of its claude; 0: not known yet, or there is none
	from, to      time.Time
}

// history are the spans of an agent.
type history struct {
	mu    sync.Mutex
	spans []span
}

func newHistory() *history { return &history{spans: []span{{phase: absent, from: time.Now()}}} }

func (h *history) now() span {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.spans[len(h.spans)-1]
}

func (h *history) begin(p phase, pid, launcher int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	last := &h.spans[len(h.spans)-1]
	last.to = time.Now()
	h.spans = append(h.spans, span{phase: p, before: last.phase, pid: pid, launcher: launcher, from: last.to})
}

// started ends a start; now it is known which process it made.
func (h *history) started(pid, launcher int) {
	h.mu.Lock()
	h.spans[len(h.spans)-1].pid = pid
	h.mu.Unlock()
	h.begin(alive, pid, launcher)
}

// since are the spans that were so at some time since then.
func (h *history) since(from time.Time) []span {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.spans[slices.IndexFunc(h.spans, func(s span) bool { return s.to.IsZero() || s.to.After(from) }):])
}

// refutes says why an answer is false if this was all that was so; "" when it is true. nil is
// the answer that there is no such agent.
func (s *span) refutes(row *seen) string {
	for _, possible := range s.possible() {
		if possible == s.kindOf(row) {
			return ""
		}
	}
	return fmt.Sprintf("it was %s, pid %d, and that is %s", s.phase, s.pid, s.kindOf(row))
}

// possible are the answers that are true in a phase.
func (s *span) possible() []string {
	switch s.phase {
	case starting:
		return []string{string(s.before), "being started", string(alive)}
	case dying:
		return []string{string(alive), string(crashed), "just ended"}
	case stopping:
		return []string{string(s.before), string(stopped), "just ended"}
	case leaving:
		return []string{string(s.before), string(stopped), string(absent), "just ended"}
	default:
		return []string{string(s.phase)}
	}
}

// kindOf is what an answer amounts to.
func (s *span) kindOf(row *seen) string {
	atWork := func(pid int) bool { return row.Running && row.PID != nil && (pid == 0 || *row.PID == pid) }
	down := func() bool { return !row.Running && row.PID == nil }
	switch {
	case row == nil:
		return string(absent)
	case (row.State == "idle" || row.State == "busy") && row.Cause == "" && atWork(s.pid):
		return string(alive)
	case row.State == "starting" && row.Running:
		return "being started"
	case row.State == "stopped" && row.Cause == "" && row.Desired == "stopped" && down():
		return string(stopped)
	case row.State == "crashed" && row.Cause == "signal: killed" && row.Desired == "running" && down():
		return string(crashed)
	case row.State == "unknown" && row.Cause == "it has just ended; its launcher is recording how" && down():
		return "just ended"
	default:
		return "something else"
	}
}
