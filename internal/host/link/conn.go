package link

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"nbs-worker/internal/fail"
	"nbs-worker/internal/host"
)

// conn is one connection to a host.
type conn struct {
	host  host.Host
	ssh   *exec.Cmd
	in    io.Closer // of ssh
	from  io.Closer // its stdout, which a child of it may keep open
	said  tail      // what ssh wrote to stderr
	out   writer
	hi    hi
	ended chan struct{} // closed when the connection has ended
	err   error         // why; to be read then
	quiet atomic.Int64  // nanoseconds in which the host sent or took nothing, so that the connection was ended
	heard atomic.Int64  // when the host sent its last frame, by the wall clock, in nanoseconds

	mu      sync.Mutex
	streams map[uint32]*exchange
	last    uint32
}

// dial starts ssh and waits until the host has greeted. log gets what ssh writes to stderr. A host that is silent for too
// long is left. Errors: those of [unreachable]; Unfit if the programs cannot speak with each other.
func dial(ctx context.Context, h host.Host, log io.Writer, silence time.Duration) (*conn, error) {
	c := &conn{host: h, ended: make(chan struct{}), streams: map[uint32]*exchange{}}
	argv := Command(h, "host", "serve")
	c.ssh = exec.Command(argv[0], argv[1:]...) //nolint:noctx // close ends it
	c.ssh.Stderr = io.MultiWriter(&c.said, log)
	c.ssh.WaitDelay = afterItsEnd
	c.ssh.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // Ctrl-C is for the command, by a frame
	in, err := c.ssh.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := c.ssh.StdoutPipe()
	if err == nil {
		err = c.ssh.Start()
	}
	if err != nil {
		return nil, fail.Errorf(fail.Unfit, "start ssh: %w", err)
	}
	c.in, c.from, c.out.to = in, out, in
	greeted := make(chan error, 1)
	heard := &hearing{Reader: out}
	go c.read(bufio.NewReader(heard), greeted)
	select {
	case <-ctx.Done():
		c.close()
		return nil, unreachableFor(TimedOut, h, "")
	case err = <-greeted:
	}
	if err == nil && c.hi.Protocol != Protocol {
		c.close()
		err = fail.Errorf(fail.Unfit, "%s has nbs-worker %s, which this one cannot speak with", h.Name, c.hi.Version).
			Hint("nbs-worker host add %s %s --install", h.Name, h.Destination)
	}
	if err != nil {
		return nil, err
	}
	if c.hi.Beats {
		go c.keepAlive(context.WithoutCancel(ctx), heard, silence)
	}
	return c, nil
}

// keepAlive sends beats, and ends the connection if the host sends none, or takes nothing.
func (c *conn) keepAlive(ctx context.Context, heard *hearing, silence time.Duration) {
	ctx, leave := context.WithCancel(ctx)
	defer leave()
	go func() { <-c.ended; leave() }()
	go c.out.sendBeats(ctx, silence)
	if quiet := awaitSilence(ctx, silence, &heard.quiet, &c.out.busy); quiet > 0 {
		c.quiet.Store(int64(quiet))
		c.close()
	}
}

// wasted returns how long the connection was useless before it was ended for that.
func (c *conn) wasted() time.Duration { return time.Duration(c.quiet.Load()) }

// read takes what the host sends until the connection ends.
func (c *conn) read(from *bufio.Reader, greeted chan<- error) {
	err := c.greet(from)
	wasGreeted := err == nil
	if wasGreeted {
		c.heard.Store(time.Now().UnixNano())
		c.said.clear() // what a shell says before it is no reason for what comes
		greeted <- nil
	}
	for err == nil {
		var f frame
		if f, err = readFrame(from); err == nil {
			c.heard.Store(time.Now().UnixNano())
			err = c.take(f)
		}
	}
	_ = c.in.Close()
	_ = c.ssh.Process.Kill() // a host that says what no host says is not listened to
	_ = c.ssh.Wait()
	said := c.said.String()
	switch code := c.ssh.ProcessState.ExitCode(); {
	case c.wasted() > 0:
		c.err = unreachableFor(TimedOut, c.host, "")
	case wasGreeted && !ReasonOf(said).Passes():
		c.err = unreachableFor(Cut, c.host, said)
	case !wasGreeted && (code == notFound || code == notRun):
		c.err = unreachableFor(NoProgram, c.host, said)
	default:
		c.err = unreachable(c.host, said)
	}
	close(c.ended)
	select {
	case greeted <- c.err:
	default:
	}
}

// greet reads to the greeting: a shell may write before it.
func (c *conn) greet(from *bufio.Reader) error {
	const limit = 1000
	for range limit {
		line, err := from.ReadString('\n')
		if err != nil {
			return err
		}
		if strings.TrimRight(line, "\r\n") != greeting {
			continue
		}
		f, err := readFrame(from)
		if err == nil && f.kind != hello {
			err = errors.New("the host does not say hello")
		}
		if err != nil {
			return err
		}
		return json.Unmarshal(f.text, &c.hi)
	}
	return errors.New("the host does not greet")
}

// take gives a frame to its exchange.
func (c *conn) take(f frame) error {
	c.mu.Lock()
	x := c.streams[f.stream]
	c.mu.Unlock()
	if x == nil {
		return nil // its user has left
	}
	switch f.kind {
	case stdout, stderr:
		if at := x.print(f.kind, f.text); at != nil {
			go func() { _ = c.out.sendJSON(got, f.stream, at) }() // what is lost is told with the next
		}
	case ended:
		var a answer
		if err := json.Unmarshal(f.text, &a); err != nil {
			return err
		}
		c.drop(f.stream)
		x.answered <- a
	case hello, ask, data, dataEnd, interrupt, beat, got: // not for an exchange
	}
	return nil
}

func (c *conn) add(x *exchange) (stream uint32) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.last++
	c.streams[c.last] = x
	return c.last
}

func (c *conn) drop(stream uint32) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.streams, stream)
}

// do asks, and waits for the answer. When ctx ends, the command is interrupted, and its answer is waited for until
// hurry. Errors: the connection ended; ctx and then hurry ended.
func (c *conn) do(ctx, hurry context.Context, x *exchange) (answer, error) {
	stream := c.add(x)
	sent := make(chan struct{})
	go func() {
		defer close(sent)
		if c.send(stream, x) != nil {
			c.end() // it is not known how much has arrived
		}
	}()
	defer func() { <-sent }() // stdin may be sent again
	over := ctx.Done()
	for {
		select {
		case a := <-x.answered:
			return a, nil
		case <-over:
			over = nil
			if len(x.Args) > 0 { // a question alone does not interrupt what it asks about
				go func() { _ = c.out.send(frame{kind: interrupt, stream: stream}) }()
			}
		case <-hurry.Done():
			c.drop(stream)
			x.leave()
			select {
			case <-sent:
			default:
				c.end() // the host takes no more
			}
			return answer{}, context.Cause(hurry)
		case <-c.ended:
			select {
			case a := <-x.answered: // with the last frame
				return a, nil
			default:
				return answer{}, c.err
			}
		}
	}
}

// send sends a question, with its stdin from the beginning: the host may have lost a part.
func (c *conn) send(stream uint32, x *exchange) error {
	if err := c.out.sendJSON(ask, stream, x.question); err != nil || x.stdin == nil {
		return err
	}
	if _, err := x.stdin.Seek(0, io.SeekStart); err != nil {
		return err
	}
	if _, err := io.Copy(part{&c.out, data, stream}, x.stdin); err != nil {
		return err
	}
	return c.out.send(frame{kind: dataEnd, stream: stream})
}

// close ends the connection, and waits until it has ended.
func (c *conn) close() {
	c.end()
	<-c.ended
}

// end ends the connection, which may print what has come for longer.
func (c *conn) end() {
	_ = c.in.Close()
	_ = c.ssh.Process.Kill()
	_ = c.from.Close()
}

// tail keeps the last bytes that were written to it.
type tail struct {
	mu   sync.Mutex
	text []byte
}

func (t *tail) Write(text []byte) (int, error) {
	const limit = 4 << 10
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, text...)
	if len(t.text) > limit {
		t.text = t.text[len(t.text)-limit:]
	}
	return len(text), nil
}

func (t *tail) clear() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.text)
}
