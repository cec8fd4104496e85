package store

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
)

// The journal is a chain. Each line says in "prev" the SHA-256 of the line before it, in
// hexadecimal and without the line break; the first says zeros. So no line can be changed,
// removed, put in or moved without the next one disagreeing.
//
// A line that is no link of the chain (it was cut short by a full disk or a power cut, or
// an earlier version wrote it) has no say in this, but its bytes count: the link behind it
// says in "over" how many such lines it chains over, and its "prev" is then the SHA-256 of
// the previous sum, a line break and the line's bytes, line by line.

// sum is a SHA-256 in hexadecimal.
type sum string

const firstSum sum = "0000000000000000000000000000000000000000000000000000000000000000"

func (s sum) valid() bool {
	_, err := hex.DecodeString(string(s))
	return err == nil && len(s) == len(firstSum)
}

func sumOf(line []byte) sum {
	digest := sha256.Sum256(line)
	return sum(hex.EncodeToString(digest[:]))
}

// chain is what the next link must say.
type chain struct {
	prev sum
	over int // lines since the last link that are none
}

// lineKind is what a line of the journal is.
type lineKind int

const (
	link      lineKind = iota
	unchained          // an event, as earlier versions wrote it
	torn               // no event
)

// journalLine is one line of the journal and where it stands.
type journalLine struct {
	Event
	kind   lineKind
	number int   // from 1
	end    int64 // offset in bytes behind it, and behind its line break
	whole  bool  // it has a line break
	sum    sum   // of a link its own, else what a link behind it chains over
	before chain // what a link here must say
}

// fits tells whether a link continues what stands before it.
func (l *journalLine) fits() bool { return l.Prev == l.before.prev && l.Over == l.before.over }

// journalLines reads a journal from some line on, in bounded memory, and keeps its chain.
type journalLines struct {
	text *bufio.Reader
	chain
	number int
	at     int64
}

func readJournal(from io.Reader, start chain, at int64) *journalLines {
	return &journalLines{text: bufio.NewReaderSize(from, eventLimit), chain: start, at: at}
}

// next returns the next line. Errors: [io.EOF], and those of the reader.
func (j *journalLines) next() (journalLine, error) {
	text, err := j.text.ReadSlice('\n')
	if errors.Is(err, bufio.ErrBufferFull) {
		return j.long(text)
	}
	if err != nil && !errors.Is(err, io.EOF) || len(text) == 0 {
		return journalLine{}, err
	}
	line := j.begin()
	j.at += int64(len(text))
	text, line.whole = bytes.CutSuffix(text, []byte{'\n'})
	line.kind = line.parse(text)
	if line.kind == link {
		j.chain = chain{prev: sumOf(text)}
	} else {
		digest := sha256.New()
		digest.Write([]byte(j.prev + "\n"))
		digest.Write(text)
		j.chainOver(digest.Sum(nil))
	}
	line.end, line.sum = j.at, j.prev
	return line, nil
}

// long reads on to the end of a line that is longer than any of ours.
func (j *journalLines) long(text []byte) (journalLine, error) {
	line := j.begin()
	line.kind = torn
	digest := sha256.New()
	digest.Write([]byte(j.prev + "\n"))
	for {
		j.at += int64(len(text))
		text, line.whole = bytes.CutSuffix(text, []byte{'\n'})
		digest.Write(text)
		if line.whole {
			break
		}
		var err error
		if text, err = j.text.ReadSlice('\n'); err != nil && !errors.Is(err, bufio.ErrBufferFull) && !errors.Is(err, io.EOF) {
			return journalLine{}, err
		}
		if len(text) == 0 {
			break
		}
	}
	j.chainOver(digest.Sum(nil))
	line.end, line.sum = j.at, j.prev
	return line, nil
}

func (j *journalLines) begin() journalLine {
	j.number++
	return journalLine{number: j.number, before: j.chain}
}

func (j *journalLines) chainOver(digest []byte) {
	j.prev = sum(hex.EncodeToString(digest))
	j.over++
}

// parse reads a line into the event.
func (l *journalLine) parse(text []byte) lineKind {
	if json.Unmarshal(text, &l.Event) != nil || l.Event.Event == "" {
		l.Event = Event{}
		return torn
	}
	if !l.Prev.valid() || l.Over < 0 {
		return unchained
	}
	return link
}
