package link

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"sync"
	"syscall"
	"time"

	"nbs-worker/internal/fail"
	"nbs-worker/internal/platform/fswatch"
	"nbs-worker/internal/platform/machine"
	"nbs-worker/internal/store/jobs"
)

// Server does at this machine what the user's other machines ask for.
type Server struct {
	Jobs    *jobs.Drawer
	Machine *machine.Machine
	Program string // this one; it runs each job, by host job ID
	Version string
	Silence time.Duration // after which a client is taken for gone; 0: as usual
}

// session is one connection of a server.
type session struct {
	*Server
	out    writer
	inputs sync.Map // by stream: the *io.PipeWriter of a request's stdin
	jobs   sync.Map // by stream: the *jobs.Job
	heard  *hearing
	beats  sync.Once
	silent chan struct{} // closed when the client is taken for gone
}

// Serve answers on a connection until its client leaves, or is gone. What it has begun goes on.
func (s *Server) Serve(ctx context.Context, in io.Reader, out io.Writer) error {
	ctx, leave := context.WithCancel(ctx)
	defer leave()
	c := &session{Server: s, out: writer{to: out}, heard: &hearing{Reader: in}, silent: make(chan struct{})}
	go s.sweep(ctx)
	if _, err := fmt.Fprintln(out, greeting); err != nil {
		return err
	}
	if err := c.out.sendJSON(hello, 0, hi{Protocol, s.Version, true, true}); err != nil {
		return err
	}
	go c.out.sendBeats(ctx, c.patience())
	left := make(chan error, 1)
	go func() { left <- c.listen(ctx) }()
	select {
	case err := <-left:
		return err
	case <-c.silent:
		return fail.Errorf(fail.TimedOut, "the other machine is silent")
	}
}

// listen takes frames until the client leaves.
func (c *session) listen(ctx context.Context) error {
	for lines := bufio.NewReader(c.heard); ; {
		f, err := readFrame(lines)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil {
			err = c.take(ctx, f)
		}
		if err != nil {
			return err
		}
	}
}

func (s *Server) patience() time.Duration { return cmp.Or(s.Silence, silence) }

// watch ends the connection when the client has sent nothing for too long.
func (c *session) watch(ctx context.Context) {
	if awaitSilence(ctx, c.patience(), &c.heard.quiet) > 0 {
		close(c.silent)
	}
}

// sweep forgets old jobs, while a connection lasts.
func (s *Server) sweep(ctx context.Context) {
	const every = 10 * time.Minute
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		s.Jobs.Sweep(time.Now())
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// take does what a frame says. A stream that is not known has ended.
func (c *session) take(ctx context.Context, f frame) error {
	switch f.kind {
	case ask:
		var q question
		if err := json.Unmarshal(f.text, &q); err != nil {
			return fmt.Errorf("a request cannot be read: %w", err)
		}
		var stdin *io.PipeReader
		if q.Input {
			reads, writes := io.Pipe()
			c.inputs.Store(f.stream, writes)
			stdin = reads
		}
		go c.answer(ctx, f.stream, q, stdin)
	case data, dataEnd:
		stored, is := c.inputs.Load(f.stream)
		if !is {
			return nil
		}
		if f.kind == dataEnd {
			c.inputs.Delete(f.stream)
			return stored.(*io.PipeWriter).Close()
		}
		_, _ = stored.(*io.PipeWriter).Write(f.text) // its reader has said why it does not read
	case interrupt:
		if job, is := c.jobs.Load(f.stream); is {
			c.interrupt(job.(*jobs.Job))
		}
	case got:
		var at position
		if job, is := c.jobs.Load(f.stream); is && json.Unmarshal(f.text, &at) == nil {
			_ = job.(*jobs.Job).Free(at.OutAt, at.ErrAt) // it takes space for longer
		}
	case beat:
		c.beats.Do(func() { go c.watch(ctx) })
	case hello, stdout, stderr, ended: // not from a client
	}
	return nil
}

// answer does a request and sends how it ended.
func (c *session) answer(ctx context.Context, stream uint32, q question, stdin *io.PipeReader) {
	said, err := c.do(ctx, stream, q, stdin)
	if ctx.Err() != nil {
		return
	}
	if err != nil {
		said = answer{Refused: err.Error(), Code: int(fail.KindOf(err))}
	}
	_ = c.out.sendJSON(ended, stream, said) // a client that has left asks again
}

func (c *session) do(ctx context.Context, stream uint32, q question, stdin *io.PipeReader) (answer, error) {
	if stdin != nil {
		defer stdin.Close()
		context.AfterFunc(ctx, func() { _ = stdin.CloseWithError(context.Cause(ctx)) })
	}
	job, err := c.find(q)
	if err != nil {
		return answer{}, err
	}
	c.jobs.Store(stream, job)
	defer c.jobs.Delete(stream)
	release, err := job.Attend()
	if err != nil {
		return answer{}, err
	}
	defer release()
	if stdin != nil {
		if err := job.Fill(stdin); err != nil {
			return answer{}, err
		}
	}
	watch, err := fswatch.New() // before it is begun: what has begun is not refused
	if err != nil {
		return answer{}, err
	}
	defer watch.Close()
	if err := watch.Folder(job.Files()); err != nil {
		return answer{}, err
	}
	gone, err := c.begin(job)
	if err != nil {
		return answer{}, err
	}
	if q.Tells {
		_ = job.Free(q.OutAt, q.ErrAt) // it takes space for longer
	}
	return c.follow(ctx, stream, &follower{job: job, watch: watch, gone: gone}, q)
}

// find returns the job of a question: a new one, or one that is asked for again. A question without a command
// only asks. So does one that has had a part of the output.
func (c *session) find(q question) (*jobs.Job, error) {
	if len(q.Args) > 0 && q.OutAt+q.ErrAt == 0 {
		return c.Jobs.Take(q.ID, q.Request.Request)
	}
	job, err := c.Jobs.Find(q.ID)
	if err != nil {
		return nil, err
	}
	if state, _, err := job.State(); err != nil || state == jobs.New {
		return nil, cmp.Or(err, error(fail.Errorf(fail.NotFound, "request %s has not begun", q.ID)))
	}
	return job, nil
}

// begin starts the process of a job that has none, and returns a channel that is closed when that has ended.
func (c *session) begin(job *jobs.Job) (gone <-chan struct{}, err error) {
	state, _, err := job.State()
	if err != nil || state != jobs.New {
		return nil, err
	}
	streams, err := job.Streams()
	if err != nil {
		return nil, err
	}
	defer streams.Close()
	cmd := exec.Command(c.Program, "host", "job", job.ID) //nolint:noctx // it outlives a cut connection
	cmd.Stdin, cmd.Stdout, cmd.Stderr = streams.In, streams.Out, streams.Err
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	over := make(chan struct{})
	go func() {
		defer close(over)
		_ = cmd.Wait() // the job says how it ended
	}()
	return over, nil
}

// interrupt tells the process of a job to end. The client waits for its end if it could not be told.
func (c *session) interrupt(job *jobs.Job) {
	id, err := job.Process()
	if err != nil {
		return
	}
	opened, liveness, err := c.Machine.Open(id)
	if err != nil || liveness != machine.Alive {
		return
	}
	defer opened.Close()
	_ = opened.Signal(syscall.SIGINT)
}
