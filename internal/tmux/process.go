package tmux

import (
	"context"
	"errors"
	"os/exec"
	"strings"
	"time"
)

// How much a client may print, in bytes: a line for each of 100,000 panes, and a complaint.
const (
	outputLimit    = 16 << 20
	complaintLimit = 64 << 10
)

var errFlood = errors.New("more than tmux prints")

// pipeDelay ends the wait for the output of a client that is done: the client hands its stdout to
// the server, and a wedged server keeps it open after the client has ended. All was written before.
const pipeDelay = 100 * time.Millisecond

// process is a tmux client at work, or done.
type process struct {
	cmd            *exec.Cmd
	stdout, stderr printed
	flooded        chan struct{} // gets a value when one of them printed too much
}

// startProcess starts a program that reads stdin and nothing else. Errors: [os.PathError].
func startProcess(binary string, args []string, dir string, env []string, stdin string) (*process, error) {
	p := &process{cmd: exec.Command(binary, args...), flooded: make(chan struct{}, 2)} //nolint:noctx // wait ends it
	p.stdout, p.stderr = printed{limit: outputLimit, flooded: p.flooded}, printed{limit: complaintLimit, flooded: p.flooded}
	p.cmd.Dir, p.cmd.Env, p.cmd.WaitDelay = dir, env, pipeDelay
	p.cmd.Stdout, p.cmd.Stderr = &p.stdout, &p.stderr
	if stdin != "" {
		p.cmd.Stdin = strings.NewReader(stdin)
	}
	return p, p.cmd.Start()
}

// wait waits until the process has ended, and ends it with ctx. Errors: [errFlood], that of ctx,
// and an exit that is not 0.
func (p *process) wait(ctx context.Context) (why error) {
	var exit error
	ended := make(chan struct{})
	go func() {
		exit = p.cmd.Wait()
		close(ended)
	}()
	select {
	case <-ended:
		if errors.Is(exit, exec.ErrWaitDelay) {
			return nil
		}
		return exit
	case <-ctx.Done():
		why = ctx.Err()
	case <-p.flooded:
		why = errFlood
	}
	_ = p.cmd.Process.Kill()
	<-ended
	return why
}

// drop ends the process; its output is lost.
func (p *process) drop() {
	_ = p.cmd.Process.Kill()
	_ = p.cmd.Wait()
}

// printed keeps what a client prints, up to a limit in bytes; a program that prints for ever is
// not tmux.
type printed struct {
	text    []byte
	limit   int
	flooded chan<- struct{}
}

func (p *printed) Write(text []byte) (int, error) {
	if len(p.text)+len(text) > p.limit {
		p.flooded <- struct{}{}
		return 0, errFlood
	}
	p.text = append(p.text, text...)
	return len(text), nil
}
