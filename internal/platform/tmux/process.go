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

// Why a client is ended before it has answered.
var (
	errFlood = errors.New("more than tmux prints")
	errStuck = errors.New("its server cannot answer")
)

// pipeDelay ends the wait for the output of a client that is done: the client hands its stdout to
// the server, and a wedged server keeps it open after the client has ended. All was written before.
const pipeDelay = 100 * time.Millisecond

// process is a tmux client at work, or done.
type process struct {
	cmd            *exec.Cmd
	stdout, stderr output
	flooded        chan struct{} // gets a value when one of them printed too much
}

// startProcess starts a program that reads stdin and nothing else. Errors: [os.PathError].
func startProcess(binary string, args []string, dir string, env []string, stdin string) (*process, error) {
	p := &process{cmd: exec.Command(binary, args...), flooded: make(chan struct{}, 2)} //nolint:noctx // wait ends it
	p.stdout, p.stderr = output{limit: outputLimit, flooded: p.flooded}, output{limit: complaintLimit, flooded: p.flooded}
	p.cmd.Dir, p.cmd.Env, p.cmd.WaitDelay = dir, env, pipeDelay
	p.cmd.Stdout, p.cmd.Stderr = &p.stdout, &p.stderr
	if stdin != "" {
		p.cmd.Stdin = strings.NewReader(stdin)
	}
	return p, p.cmd.Start()
}

// wait waits until the process has ended, and ends it with ctx, or when its server is stuck. Errors: those of
// [awaitEnd], and an exit that is not 0.
func (p *process) wait(ctx context.Context, stuck func() bool) error {
	var exit error
	ended := make(chan struct{})
	go func() {
		exit = p.cmd.Wait()
		close(ended)
	}()
	if why := awaitEnd(ctx, ended, p.flooded, stuck); why != nil {
		_ = p.cmd.Process.Kill()
		<-ended
		return why
	}
	if errors.Is(exit, exec.ErrWaitDelay) {
		return nil
	}
	return exit
}

// awaitEnd waits for the end of a client for as long as that may come. Errors: [errFlood], [errStuck], that of
// ctx.
func awaitEnd(ctx context.Context, ended, flooded <-chan struct{}, stuck func() bool) error {
	look := time.NewTicker(stuckEvery)
	defer look.Stop()
	for {
		select {
		case <-ended:
			return nil
		case <-flooded:
			return errFlood
		case <-ctx.Done():
			return ctx.Err()
		case <-look.C:
			if stuck() {
				return errStuck
			}
		}
	}
}

// printed is how much a process that has ended has printed, in bytes.
func (p *process) printed() int { return len(p.stdout.text) + len(p.stderr.text) }

// drop ends the process; its output is lost.
func (p *process) drop() {
	_ = p.cmd.Process.Kill()
	_ = p.cmd.Wait()
}

// output keeps what a client prints, up to a limit in bytes; a program that prints for ever is
// not tmux.
type output struct {
	text    []byte
	limit   int
	flooded chan<- struct{}
}

func (o *output) Write(text []byte) (int, error) {
	if len(o.text)+len(text) > o.limit {
		o.flooded <- struct{}{}
		return 0, errFlood
	}
	o.text = append(o.text, text...)
	return len(text), nil
}
