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
}

func newExchange(r Request, s Streams) *exchange {
	return &exchange{
		question: question{Request: r}, stdin: s.In, stdout: s.Out, stderr: s.Err, answered: make(chan answer, 1), printing: make(chan struct{}, 1),
	}
}

// print writes what has come, and counts it. A failure does not end the command, which cannot know of it.
func (x *exchange) print(kind kind, text []byte) {
	x.printing <- struct{}{}
	defer func() { <-x.printing }()
	if x.left {
		return
	}
	to, at := x.stdout, &x.OutAt
	if kind == stderr {
		to, at = x.stderr, &x.ErrAt
	}
	*at += int64(len(text))
	if _, err := to.Write(text); err != nil && x.printed == nil {
		x.printed = err
	}
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
