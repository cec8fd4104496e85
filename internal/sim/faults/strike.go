package faults

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

// Strike waits for the moment of one fault and kills then. It begins before the verb does.
type Strike struct {
	fault  Fault
	find   func(Victim) *os.Process
	usual  time.Duration
	watch  *watcher
	begun  time.Time
	ended  atomic.Bool
	done   chan struct{}
	result Result
}

// Result is what became of a fault.
type Result struct {
	Hit   bool
	At    Moment // the last step that was seen before the kill; the zero Moment before the first
	After time.Duration
	PIDs  []int
	Err   error // of the watch itself
	trail []string
	seen  map[string]int
}

// Saw reports whether the moment of a step came.
func (r Result) Saw(m Moment) bool { return r.seen[m.Step] >= m.Nth }

// Trail lists the steps in their order, and the kill among them.
func (r Result) Trail() string { return strings.Join(r.trail, "\n") }

// Begin watches the place. find returns a handle on a victim, or nil while there is no such process; when the moment
// comes before the victims, the fault waits for them. usual is how long the verb usually takes.
func Begin(fault Fault, place Place, usual time.Duration, find func(Victim) *os.Process) (*Strike, error) {
	watch, err := newWatcher(place)
	if err != nil {
		return nil, err
	}
	s := &Strike{fault: fault, find: find, usual: usual, watch: watch, begun: time.Now(), result: Result{seen: map[string]int{}}, done: make(chan struct{})}
	go s.run()
	return s, nil
}

// End is called when the verb has ended: a fault whose moment or victim never came has missed.
func (s *Strike) End() Result {
	s.ended.Store(true)
	err := s.watch.file.Close()
	<-s.done
	for _, step := range s.watch.rest() {
		s.count(step)
	}
	s.result.Err = errors.Join(s.result.Err, err, unix.Close(s.watch.fd))
	return s.result
}

func (s *Strike) run() {
	defer close(s.done)
	hurry()
	due := false
	for {
		steps, err := s.watch.read(s.patience(due))
		if err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
			if !s.ended.Load() { // else it is the file that End has closed
				s.result.Err = err
			}
			return
		}
		for _, step := range steps {
			due = s.count(step) || due
		}
		due = due || s.fault.Moment.Step == "" && time.Since(s.begun) >= s.delay()
		if due && !s.result.Hit {
			s.kill()
		}
	}
}

// retry is the pause between two looks for a victim that is not there yet.
const retry = time.Millisecond

// patience is the deadline of the wait for the next step; the zero time is none.
func (s *Strike) patience(due bool) time.Time {
	switch {
	case s.result.Hit:
		return time.Time{}
	case due:
		return time.Now().Add(retry)
	case s.fault.Moment.Step == "":
		return s.begun.Add(s.delay())
	}
	return time.Time{}
}

func (s *Strike) delay() time.Duration {
	return time.Duration(s.fault.Moment.Share * float64(s.usual))
}

// count records a step and reports whether it is the fault's.
func (s *Strike) count(step string) bool {
	s.result.seen[step]++
	nth := s.result.seen[step]
	if !s.result.Hit {
		s.result.At = Moment{Step: step, Nth: nth}
	}
	s.note("%s %d", step, nth)
	return step == s.fault.Moment.Step && nth == s.fault.Moment.Nth
}

// kill kills all victims or, while one is missing, none.
func (s *Strike) kill() {
	held := make([]*os.Process, 0, len(s.fault.Victims))
	defer func() {
		for _, p := range held {
			_ = p.Release()
		}
	}()
	for _, victim := range s.fault.Victims {
		p := s.find(victim)
		if p == nil {
			return
		}
		held = append(held, p)
	}
	for i, p := range held {
		if err := p.Kill(); err != nil {
			s.note("%s had just ended", s.fault.Victims[i])
			continue
		}
		s.result.Hit = true
		s.result.PIDs = append(s.result.PIDs, p.Pid)
		s.note("KILLED %s, pid %d", s.fault.Victims[i], p.Pid)
	}
	s.result.After = time.Since(s.begun)
}

func (s *Strike) note(format string, args ...any) {
	at := time.Since(s.begun)
	s.result.trail = append(s.result.trail, fmt.Sprintf("%7.1f ms  ", float64(at)/float64(time.Millisecond))+fmt.Sprintf(format, args...))
}
