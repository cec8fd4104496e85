package tmux

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// How much a client may print, in bytes: a line for each of 100,000 panes, and a complaint.
const (
	outputLimit    = 16 << 20
	complaintLimit = 64 << 10
)

// errFlood is a reason to end a client before it has answered.
var errFlood = errors.New("it printed too much")

// pipeDelay ends the wait for the end of a finished client's output. The client passes its stdout to the server, and
// a wedged server keeps it open after the client has ended. All output was written before.
const pipeDelay = 100 * time.Millisecond

// process is a tmux client, running or done.
type process struct {
	cmd            *exec.Cmd
	stdout, stderr *output
	flooded        chan struct{} // gets a value when one of them printed too much
}

// startProcess starts a program with stdin as its only input. Errors: [os.PathError].
func startProcess(binary string, args []string, dir string, env []string, stdin string) (*process, error) {
	p := &process{cmd: exec.Command(binary, args...), flooded: make(chan struct{}, 2)} //nolint:noctx // wait ends it
	p.cmd.Dir, p.cmd.Env, p.cmd.WaitDelay = dir, env, pipeDelay
	if stdin != "" {
		p.cmd.Stdin = strings.NewReader(stdin)
	}
	stdout, stderr, err := p.pipes()
	if err != nil {
		return nil, err
	}
	p.cmd.Stdout, p.cmd.Stderr = stdout, stderr
	err = p.cmd.Start()
	_, _ = stdout.Close(), stderr.Close() // the program has its own
	go p.stdout.read()
	go p.stderr.read()
	if err != nil {
		p.finish()
	}
	return p, err
}

// pipes creates the pipes for the program's output, and returns the program's ends.
func (p *process) pipes() (stdout, stderr *os.File, err error) {
	if p.stdout, stdout, err = newOutput(outputLimit, p.flooded); err != nil {
		return nil, nil, err
	}
	if p.stderr, stderr, err = newOutput(complaintLimit, p.flooded); err != nil {
		_, _ = stdout.Close(), p.stdout.pipe.Close()
		return nil, nil, err
	}
	return stdout, stderr, nil
}

// wait waits until the process has ended. It ends the process with ctx, or when it prints too much. Errors:
// [errFlood], that of ctx, an exit that is not 0.
func (p *process) wait(ctx context.Context) error {
	var exit error
	ended := make(chan struct{})
	go func() {
		exit = p.cmd.Wait()
		p.finish()
		close(ended)
	}()
	var why error
	select {
	case <-ended:
		if errors.Is(exit, exec.ErrWaitDelay) { // of its stdin
			return nil
		}
		return exit
	case <-p.flooded:
		why = errFlood
	case <-ctx.Done():
		why = ctx.Err()
	}
	_ = p.cmd.Process.Kill()
	<-ended
	return why
}

// finish reads the rest of what a process that has ended has printed.
func (p *process) finish() {
	late := time.Now().Add(pipeDelay)
	p.stdout.finish(late)
	p.stderr.finish(late)
}

// printed returns how much a process that has ended has printed, in bytes.
func (p *process) printed() int { return len(p.stdout.text) + len(p.stderr.text) }

// output keeps the output of a client, up to a limit in bytes: a program that prints for ever is not tmux.
type output struct {
	pipe    *os.File
	text    []byte
	limit   int
	flooded chan<- struct{}
	whole   bool          // nothing is to come, or too much came
	over    chan struct{} // closed when read has returned
}

func newOutput(limit int, flooded chan<- struct{}) (o *output, program *os.File, err error) {
	o = &output{limit: limit, flooded: flooded, over: make(chan struct{})}
	o.pipe, program, err = os.Pipe()
	return o, program, err
}

// read keeps the output until all of it is there, or too much, or the wait for it ends.
func (o *output) read() {
	defer close(o.over)
	part := make([]byte, 32<<10)
	for {
		n, err := o.pipe.Read(part)
		o.whole = !o.keep(part[:n]) || err == io.EOF
		if o.whole || err != nil {
			return
		}
	}
}

func (o *output) keep(text []byte) bool {
	if len(o.text)+len(text) > o.limit {
		o.flooded <- struct{}{}
		return false
	}
	o.text = append(o.text, text...)
	return true
}

// finish waits until late for the end of the output. If another process keeps the pipe open, it then takes what the
// pipe contains: without a free processor, read may not have run since the program ended. Half an answer is a wrong
// one: a text that tmux has typed would be typed again.
func (o *output) finish(late time.Time) {
	defer o.pipe.Close()
	wait := time.NewTimer(time.Until(late))
	defer wait.Stop()
	select {
	case <-o.over:
	case <-wait.C:
	}
	_ = o.pipe.SetReadDeadline(time.Now()) // ends the read
	<-o.over
	_ = o.pipe.SetReadDeadline(time.Time{})
	pipe, err := o.pipe.SyscallConn()
	if o.whole || err != nil {
		return
	}
	part := make([]byte, 32<<10)
	_ = pipe.Read(func(fd uintptr) (done bool) {
		for {
			n, err := unix.Read(int(fd), part)
			if errors.Is(err, unix.EINTR) {
				continue
			}
			if n <= 0 || !o.keep(part[:n]) {
				return true // nothing is there now
			}
		}
	})
}
