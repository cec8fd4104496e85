package link

import (
	"io"
	"time"
)

// exchange is a request on its way. It outlives a connection.
type exchange struct {
	question

	stdin          io.ReadSeeker // nil: none
	stdout, stderr io.Writer
	answered       chan answer

	printing chan struct{} // has an element while something is printed
	left     bool          // its user reads no more
	printed  error         // the first failure to write what has come
	fresh    int           // bytes that have come since the host was told what came
}

func newExchange(r Request, s Streams) *exchange {
	return &exchange{
		question: question{Request: r, Tells: !r.Keep}, stdin: s.In, stdout: s.Out, stderr: s.Err, answered: make(chan answer, 1), printing: make(chan struct{}, 1),
	}
}

// toldAfter is how much a host sends before it is told that it came, in bytes.
const toldAfter = 1 << 20

// print writes what has come, and counts it. A failure does not end the command, which cannot know of it. Now and then it
// returns a position, which the host is to be told.
func (x *exchange) print(kind kind, text []byte) (tell *position) {
	x.printing <- struct{}{}
	defer func() { <-x.printing }()
	if x.left {
		return nil
	}
	to, at := x.stdout, &x.OutAt
	if kind == stderr {
		to, at = x.stderr, &x.ErrAt
	}
	*at += int64(len(text))
	if _, err := to.Write(text); err != nil && x.printed == nil {
		x.printed = err
	}
	if x.fresh += len(text); x.fresh < toldAfter || x.Keep {
		return nil
	}
	x.fresh = 0
	return new(x.position)
}

// leave ends the printing: the user reads what has come. A write that takes a second is to a terminal or a pipe, and does not
// disturb a reader.
func (x *exchange) leave() {
	select {
	case x.printing <- struct{}{}:
		x.left = true
		<-x.printing
	case <-time.After(afterItsEnd):
	}
}
