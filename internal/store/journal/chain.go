package journal

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"

	"nbs-worker/internal/store/private"
)

// The journal is a chain. Each line says in "prev" the SHA-256 of the line before it, in
// hexadecimal and without the line break; the first says zeros. So no line can be changed,
// removed, put in or moved without the next one disagreeing.
//
// A line that is no link of the chain (it was cut short by a full disk or a power cut) names no
// sum, but its bytes count: the link behind it says in "over" how many such lines it chains over,
// and its "prev" is then the SHA-256 of the previous sum, a line break and the line's bytes, line
// by line.

const firstSum private.Sum = "0000000000000000000000000000000000000000000000000000000000000000"

// chain is what the next link must say.
type chain struct {
	prev private.Sum
	over int // lines since the last link that are not links
}

// lineKind is what a line of the journal is.
type lineKind int

const (
	link    lineKind = iota
	foreign          // an event that this program did not write
	torn             // not an event
)

// entry is one line of the journal and where it stands.
type entry struct {
	Event
	kind   lineKind
	number int         // from 1
	end    int64       // offset in bytes behind it, and behind its line break
	whole  bool        // it has a line break
	sum    private.Sum // the link's sum, or the sum from which the next link continues
	before chain       // what a link here must say
}

// fits reports whether a link continues the lines before it.
func (e *entry) fits() bool { return e.Prev == e.before.prev && e.Over == e.before.over }

// reader reads a journal from some line on, in bounded memory, and keeps its chain.
type reader struct {
	text *bufio.Reader
	chain
	number int
	at     int64
}

func readFrom(from io.Reader, start chain, at int64) *reader {
	return &reader{text: bufio.NewReaderSize(from, eventLimit), chain: start, at: at}
}

// next returns the next line. A line that is longer than any line of this program is not an event. Errors: [io.EOF],
// and those of the reader.
func (r *reader) next() (entry, error) {
	text, err := r.text.ReadSlice('\n')
	long := errors.Is(err, bufio.ErrBufferFull)
	if err != nil && !long && !errors.Is(err, io.EOF) || len(text) == 0 {
		return entry{}, err
	}
	r.number++
	r.at += int64(len(text))
	line := entry{number: r.number, before: r.chain, kind: torn}
	text, line.whole = bytes.CutSuffix(text, []byte{'\n'})
	if !long {
		line.kind = line.parse(text)
	}
	if line.kind == link {
		r.chain = chain{prev: private.SumOf(text)}
	} else {
		digest := sha256.New()
		digest.Write([]byte(r.prev + "\n"))
		digest.Write(text)
		if long {
			if line.whole, err = r.toEnd(digest); err != nil {
				return entry{}, err
			}
		}
		r.chain = chain{prev: private.Sum(hex.EncodeToString(digest.Sum(nil))), over: r.over + 1}
	}
	line.end, line.sum = r.at, r.prev
	return line, nil
}

// toEnd reads on to the end of a line, in bounded memory.
func (r *reader) toEnd(digest io.Writer) (whole bool, err error) {
	for {
		text, err := r.text.ReadSlice('\n')
		r.at += int64(len(text))
		text, whole = bytes.CutSuffix(text, []byte{'\n'})
		_, _ = digest.Write(text)
		switch {
		case err == nil, errors.Is(err, io.EOF):
			return whole, nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return false, err
		}
	}
}

// parse reads a line into the event.
func (e *entry) parse(text []byte) lineKind {
	if json.Unmarshal(text, &e.Event) != nil || e.Event.Event == "" {
		e.Event = Event{}
		return torn
	}
	if !e.Prev.Valid() || e.Over < 0 {
		return foreign
	}
	return link
}
