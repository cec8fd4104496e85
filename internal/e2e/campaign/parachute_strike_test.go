package campaign

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"time"

	"nbs-worker/internal/e2e"
)

// keyHash names the files of a conversation.
func keyHash(key string) string {
	sum := sha256.Sum256([]byte(key))
	return hex.EncodeToString(sum[:16])
}

// jump is one kill: of whom, and when.
type jump struct {
	victims []string
	step    int     // the n-th change of a file; 0: at a time
	share   float64 // of the usual length of a turn
}

// more reports whether there is anything left to be killed.
func (p *parachute) more() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.turns++
	return p.left > 0 && p.turns < p.most
}

func (p *parachute) chance(of int) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.rng.IntN(of) == 0
}

// deal is the next kill; nil for a turn that nobody disturbs.
func (p *parachute) deal() *jump {
	p.mu.Lock()
	defer p.mu.Unlock()
	victims := [][]string{{"ask"}, {"claude"}, {"ask", "claude"}, nil}
	if p.serves {
		victims = [][]string{{"serve"}, {"claude"}, {"ask"}, {"serve", "claude"}, {"ask", "serve"}, nil}
	}
	const steps = 40 // changes that a turn makes, or a little more
	j := &jump{victims: victims[p.rng.IntN(len(victims))], share: p.rng.Float64()}
	if p.rng.IntN(3) > 0 {
		j.step = 1 + p.rng.IntN(steps)
	}
	if j.victims == nil || p.left <= 0 {
		return nil
	}
	return j
}

// strike waits for the moment of a jump, and kills.
type strike struct {
	*parachute
	jump *jump
	seen changes
	ask  *e2e.Running
	done chan struct{}
}

// await watches the files of a conversation, before anybody speaks in it.
func (p *parachute) await(key string, j *jump) *strike {
	p.Helper()
	seen := watchChanges(p,
		p.InNbs("conversations", keyHash(key)), p.InNbs("conversations", keyHash(key), "results"), p.InNbs("conversations", "pending"),
		p.TurnFolder(), filepath.Join(p.World.ConfigDir, "projects", "*"), filepath.Join(p.World.ConfigDir, "sessions"),
	)
	return &strike{parachute: p, jump: j, seen: seen, done: make(chan struct{})}
}

func (s *strike) begin(ask *e2e.Running) {
	s.ask = ask
	go s.run()
}

// end is for when nobody is there any more to be killed.
func (s *strike) end() {
	s.seen.close()
	<-s.done
}

func (s *strike) run() {
	defer close(s.done)
	pause := time.Duration(s.jump.share * float64(s.usual))
	if s.jump.step > 0 {
		pause = 0
	}
	if !s.seen.await(s.jump.step, pause) {
		return // it has ended before
	}
	for _, victim := range s.jump.victims {
		if p := s.patient(victim); p != nil && p.Kill() == nil {
			s.mu.Lock()
			s.tally[victim]++
			s.left--
			s.mu.Unlock()
		}
	}
}

// patient finds a victim that may not be there yet; nil when the turn ends before.
func (s *strike) patient(victim string) *os.Process {
	for {
		if p := s.find(victim); p != nil {
			return p
		}
		if !s.seen.await(0, 2*time.Millisecond) {
			return nil
		}
	}
}

// find is a victim; nil when it is not there.
func (s *strike) find(victim string) *os.Process {
	switch victim {
	case "ask":
		return s.ask.Process
	case "serve":
		return s.server.Load()
	}
	for _, w := range s.Processes() {
		if w.AnswersTurns() && (e2e.Parent(w.PID) == s.ask.Process.Pid || s.serves) {
			return s.hold(w.PID)
		}
	}
	return nil
}
