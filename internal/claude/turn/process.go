package turn

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
)

// Launch is a claude to be started.
type Launch struct {
	Program string   // path of claude
	Args    []string // of [Args]
	Dir     string   // working directory
	Env     []string // whole environment
	OneTurn bool     // claude's input ends with the result of the first turn and the last background task, so that it exits

	Spoke func(Spoken) // called with what claude says by itself; nil: not called
}

// Process is a running claude. It takes one turn at a time. A process whose turn was given up, or that is for one
// turn, takes no more.
type Process struct {
	cmd    *exec.Cmd
	stdin  io.WriteCloser
	once   bool // Launch.OneTurn
	spoke  func(Spoken)
	stderr tail
	ended  chan struct{}
	exit   string // how it ended; read after ended

	mu       sync.Mutex
	turn     *listener // of the current turn; nil between turns
	beside   beside
	commands commands
	over     bool // the first turn is
	givenUp  bool
	warned   bool    // an outcome has claude's warning
	spent    float64 // US dollars, by the last result: 2.1.197 counts a process's turns together
}

const (
	stderrKept  = 8 << 10         // bytes
	pipesWaited = 2 * time.Second // for output after claude's end: a process that it left behind may hold the pipes
)

// Start starts claude in a session of its own, so that no signal of a terminal reaches it. Claude prints nothing
// before the first turn: only that turn shows whether it can open the conversation. Errors: NotFound when the working
// directory is gone, Unfit when claude cannot be started.
func Start(launch Launch) (*Process, error) {
	p := &Process{ended: make(chan struct{}), once: launch.OneTurn, spoke: launch.Spoke, commands: commands{known: make(chan struct{})}}
	p.cmd = exec.Command(launch.Program, launch.Args...)
	p.cmd.Dir, p.cmd.Env = launch.Dir, launch.Env
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	p.cmd.Stdout, p.cmd.Stderr = &splitter{line: p.hear}, &p.stderr
	p.cmd.WaitDelay = pipesWaited
	var err error
	if p.stdin, err = p.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	if err := p.cmd.Start(); err != nil {
		if _, statErr := os.Stat(launch.Dir); launch.Dir != "" && statErr != nil {
			return nil, fail.Errorf(fail.NotFound, "the working directory %s is gone", human.Quote(launch.Dir)).
				Hint("put the folder back; the conversation is kept in it")
		}
		return nil, fail.Errorf(fail.Unfit, "start claude: %w", err)
	}
	go p.wait()
	return p, nil
}

func (p *Process) wait() {
	_ = p.cmd.Wait() // ProcessState has more than the error
	p.exit = p.cmd.ProcessState.String()
	close(p.ended)
}

// PID returns the number of the process, even after its end.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// Ended returns a channel that is closed when claude has ended and was waited for.
func (p *Process) Ended() <-chan struct{} { return p.ended }

// Close ends claude's input, so that there are no more turns, and waits for its end. Errors: those of ctx; claude
// then still runs.
func (p *Process) Close(ctx context.Context) error {
	_ = p.stdin.Close() // it fails when claude has ended
	select {
	case <-p.ended:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// EventKind is the kind of an [Event].
type EventKind int

// The kinds.
const (
	Confirmed EventKind = iota // claude has named the conversation: SessionID. It may not be on disk yet
	TakenUp                    // claude has taken the text up
	Partial                    // a further part of the answer: Text
	Over                       // the turn is over; what claude says from here on is not its answer
	ToolBegan                  // a tool runs: Tool, ToolID, and in Text what it is used for
	ToolEnded                  // ToolID has a result; Unused: it did not run
	Refused                    // the API has refused a request, which claude repeats: Status
	Lived                      // any other line
)

// Event is a report of claude in the middle of a turn.
type Event struct {
	Kind      EventKind
	SessionID agent.SessionID
	Text      string
	Tool      string // "": claude uses it in a turn that it began by itself
	ToolID    string
	Parent    string // the id of the tool use to which it belongs, as that of a subagent; "": it belongs to the turn itself
	Message   string // the id of the model's message; "": it is not part of one
	Unused    bool
	Status    int // 0: there was no answer
}

// Turn sends a text with images, which gets the id in the transcript, and waits until the turn is over. Until then it calls heard
// with the events, in order, from another goroutine; heard may be nil. After an error heard may be called once more.
// The outcome's class says how the turn ended, also if claude has ended. Errors: those of ctx, with the outcome so
// far: the turn may still be running, so the process takes no other. Conflict when the process takes no turn.
func (p *Process) Turn(ctx context.Context, id, text string, heard func(Event), images ...Image) (Outcome, error) {
	return p.run(ctx, id, heard, func(*listener) { p.say(id, append(imageBlocks(images), blocks(text)...)) })
}

// run runs a turn, which say begins.
func (p *Process) run(ctx context.Context, id string, heard func(Event), say func(*listener)) (Outcome, error) {
	began := time.Now()
	t := &listener{id: id, heard: heard, over: make(chan struct{})}
	if err := p.listen(t); err != nil {
		return Outcome{}, err
	}
	defer p.listen(nil) //nolint:errcheck // to listen no more is always possible
	go say(t)
	var err error
	select {
	case <-t.over:
	case <-p.ended:
	case <-ctx.Done():
		err = ctx.Err()
	}
	return p.outcome(t, time.Since(began), err), err
}

// listen makes t the turn that gets each line of the output; with nil no turn gets them.
func (p *Process) listen(t *listener) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if t != nil && (p.givenUp || p.turn != nil) {
		return fail.Errorf(fail.Conflict, "claude (pid %d) is still running another turn, or takes no more turns", p.PID())
	}
	p.turn = t
	return nil
}

// say writes a turn's text. It ignores errors: the turn ends when claude does.
func (p *Process) say(id string, content []saidBlock) {
	data, _ := json.Marshal(said{Type: "user", UUID: id, Message: saidMessage{Role: "user", Content: content}}) // of strings: it cannot fail
	_, _ = p.stdin.Write(append(data, '\n'))
}

// hear is called with each line of claude's output.
//
// The input of a claude for one turn ends here, and no sooner: both versions exit without waiting until their
// output is read. If the input ended with the text, claude could lose the result: that happens if the text,
// which it repeats, or the answer is longer than a pipe holds and the reader is late. It stays open while a background
// task runs: 2.1.197 ends those 5 s after its input.
func (p *Process) hear(data []byte) {
	var l line
	if !decode(data, &l) {
		return
	}
	p.mu.Lock()
	t := p.turn
	p.beside.line(l)
	p.commands.learn(&l)
	var events []Event
	if t != nil {
		events = signs(&l, data)
		if p.beside.own {
			for i := range events {
				events[i].Tool, events[i].Text = "", "" // that it runs is a sign of life, but it is not the turn's
			}
		}
		if e := t.line(l, p.beside.own); e != nil {
			events = append(events, *e)
		}
		if t.end.result != nil && !t.charged {
			p.over, t.charged, t.end.cost = true, true, p.charge(t.end.result)
		}
	}
	said := p.spoken(l)
	if p.once && p.over && len(p.beside.tasks) == 0 {
		_ = p.stdin.Close() // it fails when claude has ended, or was done before
	}
	p.mu.Unlock()
	// Without the lock: what is called may take long, and the turn may be given up during it.
	if said != nil && p.spoke != nil {
		p.spoke(*said)
	}
	for _, e := range events {
		if t.heard != nil {
			t.heard(e)
		}
		if e.Kind == Over { // the turn's last event: who waits for the turn has all of it
			close(t.over)
		}
	}
}

func (p *Process) outcome(t *listener, took time.Duration, err error) Outcome {
	p.mu.Lock()
	e := t.end
	p.givenUp = p.givenUp || p.once || err != nil
	p.mu.Unlock()
	e.stderr, e.now = p.stderr.String(), time.Now()
	select {
	case <-p.ended:
		e.exit = p.exit
	default:
	}
	o := e.outcome()
	if err != nil && e.result == nil {
		o.Class = Interrupted
	}
	if !p.warned { // only the one turn that a process takes at a time comes here
		o.Warning = ignoredRules(e.stderr)
		p.warned = o.Warning != ""
	}
	o.Duration, o.CostUSD = took, e.cost
	return o
}

// charge returns the cost of a turn, in US dollars, or nil if claude does not say. Its caller holds the lock.
func (p *Process) charge(r *result) *float64 {
	if r.TotalUSD == nil {
		return nil
	}
	cost := max(0, *r.TotalUSD-p.spent)
	p.spent = *r.TotalUSD
	if r.Models != nil {
		cost = 0
		for _, model := range r.Models {
			cost += model.CostUSD
		}
	}
	return &cost
}

// splitter passes on what is written to it in whole lines.
type splitter struct {
	line func([]byte)
	rest []byte
}

func (s *splitter) Write(data []byte) (int, error) {
	n := len(data)
	for {
		i := bytes.IndexByte(data, '\n')
		if i < 0 {
			s.rest = append(s.rest, data...)
			return n, nil
		}
		s.line(append(s.rest, data[:i]...))
		s.rest, data = nil, data[i+1:]
	}
}

// tail keeps the end of what is written to it.
type tail struct {
	mu   sync.Mutex
	kept []byte
}

func (t *tail) Write(data []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.kept = append(t.kept, data...)
	t.kept = t.kept[max(0, len(t.kept)-stderrKept):]
	return len(data), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.kept)
}
