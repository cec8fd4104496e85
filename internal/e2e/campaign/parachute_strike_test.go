package campaign

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

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
	file *os.File // tells of changes
	ask  *e2e.Running
	done chan struct{}
}

// await watches the files of a conversation, before anybody speaks in it.
func (p *parachute) await(key string, j *jump) *strike {
	p.Helper()
	fd, err := unix.InotifyInit1(unix.IN_NONBLOCK | unix.IN_CLOEXEC)
	p.Must(err)
	s := &strike{parachute: p, jump: j, file: os.NewFile(uintptr(fd), "inotify"), done: make(chan struct{})}
	for _, pattern := range []string{
		p.InNbs("conversations", keyHash(key)), p.InNbs("conversations", keyHash(key), "results"), p.InNbs("conversations", "pending"),
		p.TurnFolder(), filepath.Join(p.World.ConfigDir, "projects", "*"), filepath.Join(p.World.ConfigDir, "sessions"),
	} {
		found, _ := filepath.Glob(pattern)
		for _, dir := range found { // what is not there yet has no changes
			_, err := unix.InotifyAddWatch(fd, dir, unix.IN_CREATE|unix.IN_MODIFY|unix.IN_MOVED_TO|unix.IN_DELETE)
			p.Must(err)
		}
	}
	return s
}

func (s *strike) begin(ask *e2e.Running) {
	s.ask = ask
	go s.run()
}

// end is for when nobody is there any more to be killed.
func (s *strike) end() {
	_ = s.file.Close()
	<-s.done
}

func (s *strike) run() {
	defer close(s.done)
	deadline := time.Now().Add(time.Duration(s.jump.share * float64(s.usual)))
	if s.jump.step > 0 {
		deadline = time.Time{}
	}
	buffer := make([]byte, 64<<10)
	for seen := 0; s.jump.step == 0 || seen < s.jump.step; {
		_ = s.file.SetReadDeadline(deadline)
		n, err := s.file.Read(buffer)
		if os.IsTimeout(err) {
			break
		}
		if err != nil {
			return // it has ended before
		}
		seen += eventsIn(buffer[:n])
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

func eventsIn(data []byte) (n int) {
	for ; len(data) >= unix.SizeofInotifyEvent; n++ {
		event := (*unix.InotifyEvent)(unsafe.Pointer(&data[0]))
		data = data[unix.SizeofInotifyEvent+int(event.Len):]
	}
	return n
}

// patient finds a victim that may not be there yet; nil when the turn ends before.
func (s *strike) patient(victim string) *os.Process {
	for {
		if p := s.find(victim); p != nil {
			return p
		}
		_ = s.file.SetReadDeadline(time.Now().Add(2 * time.Millisecond))
		if _, err := s.file.Read(make([]byte, 64<<10)); err != nil && !os.IsTimeout(err) {
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
