package link

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
)

// Protocol is the version of what two programs say to each other. A change that an older program would misunderstand
// raises it.
const Protocol = 1

// greeting is the line with which a host begins. What comes before it is of the host's shell.
const greeting = "nbs-worker host"

// kind says what a frame is.
type kind byte

const (
	hello     kind = iota + 1 // host: hi, as JSON
	ask                       // client: a question, as JSON
	data                      // client: bytes of stdin
	dataEnd                   // client: the end of stdin
	interrupt                 // client: the command shall end, as by Ctrl-C
	stdout                    // host: bytes
	stderr                    // host: bytes
	ended                     // host: an answer, as JSON; the last frame of a stream
	beat                      // both, from time to time: the sender lives
	got                       // client: a position, as JSON; an older host ignores it
)

// hi is what a host says of itself.
type hi struct {
	Protocol int    `json:"protocol"`
	Version  string `json:"version"` // of its program
	Beats    bool   `json:"beats"`
	Limits   bool   `json:"limits"` // it keeps those of a request
}

// position says how much of the output the client has.
type position struct {
	OutAt int64 `json:"out_at"` // bytes of stdout
	ErrAt int64 `json:"err_at"`
}

// question asks for a request to be done, or for what became of it.
type question struct {
	Request
	position

	Tells bool `json:"tells,omitempty"` // the client says by got what it has
}

// answer says how a request ended.
type answer struct {
	Code    int    `json:"code"`
	Refused string `json:"refused,omitempty"` // why it was not done
	Killed  bool   `json:"killed,omitempty"`  // what it has done is unknown
}

// frame is a part of a stream. On the line: kind (1 byte), stream (4), length of the text (4), text; numbers are big
// endian.
type frame struct {
	kind   kind
	stream uint32
	text   []byte
}

const (
	headSize   = 9
	frameLimit = 8 << 20  // bytes: a question with the texts of a command line
	pieceSize  = 32 << 10 // bytes: of what is sent in pieces
)

// readFrame reads the next frame. Errors: [io.EOF] between two frames.
func readFrame(in *bufio.Reader) (f frame, err error) {
	var head [headSize]byte
	if _, err := io.ReadFull(in, head[:]); err != nil {
		return f, err
	}
	size := binary.BigEndian.Uint32(head[5:])
	if size > frameLimit {
		return f, fmt.Errorf("a frame of %d bytes", size)
	}
	f = frame{kind: kind(head[0]), stream: binary.BigEndian.Uint32(head[1:]), text: make([]byte, size)}
	if _, err = io.ReadFull(in, f.text); errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return f, err
}

// writer writes frames. It may be used by several goroutines.
type writer struct {
	mu   sync.Mutex
	to   io.Writer
	busy stopwatch // while the other side has not taken a frame
}

func (w *writer) send(f frame) error {
	text := make([]byte, headSize, headSize+len(f.text))
	text[0] = byte(f.kind)
	binary.BigEndian.PutUint32(text[1:], f.stream)
	binary.BigEndian.PutUint32(text[5:], uint32(len(f.text))) //nolint:gosec // frames are small
	w.mu.Lock()
	defer w.mu.Unlock()
	w.busy.start()
	defer w.busy.stop()
	_, err := w.to.Write(append(text, f.text...))
	return err
}

func (w *writer) sendJSON(kind kind, stream uint32, value any) error {
	text, err := json.Marshal(value)
	if err != nil {
		return err
	}
	return w.send(frame{kind, stream, text})
}

// part is an [io.Writer] that sends what is written to it as frames of a kind.
type part struct {
	*writer
	kind   kind
	stream uint32
}

func (p part) Write(text []byte) (int, error) {
	for rest := text; len(rest) > 0; {
		n := min(len(rest), pieceSize)
		if err := p.send(frame{p.kind, p.stream, rest[:n]}); err != nil {
			return len(text) - len(rest), err
		}
		rest = rest[n:]
	}
	return len(text), nil
}
