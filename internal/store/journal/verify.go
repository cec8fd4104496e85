package journal

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// Verification is the result of [Journal.Verify].
type Verification struct {
	Lines  int          // of the journal
	Links  int          // of the chain
	Torn   []int        // numbers of lines that are not events; at most a hundred
	Head   string       // path of the head
	NoHead bool         // the end of the chain is not recorded, so lines that were cut off are not noticed
	Broken *BrokenError // nil: nothing was changed
}

// BrokenError is the first place where the chain is broken.
type BrokenError struct {
	File string // path
	Line int    // from 1
	What string
}

func (b *BrokenError) Error() string { return fmt.Sprintf("%s: line %d: %s", b.File, b.Line, b.What) }

const tornNamed = 100

// Verify reads the journal and checks its chain. It takes no lock; lines appended during the check do no harm. If
// there is no journal, the result has no lines. Errors: those of reading.
func (j *Journal) Verify() (Verification, error) {
	last, known, err := j.readHead() // first: the journal may then be longer, but not shorter
	if err != nil {
		return Verification{}, err
	}
	f, err := j.nbs.OpenRegular(fileName, os.O_RDONLY)
	if errors.Is(err, fs.ErrNotExist) {
		if known && j.hasJournaled() {
			return Verification{Head: j.headPath(), Broken: &BrokenError{File: j.Path(), Line: 1, What: "the journal is missing, and its head exists"}}, nil
		}
		return Verification{NoHead: true}, nil
	}
	if err != nil {
		return Verification{}, fmt.Errorf("open %s: %w", j.nbs.Label(fileName), err)
	}
	defer f.Close()
	v := &verifier{head: last, headKnown: known, result: Verification{Head: j.headPath(), NoHead: !known}}
	line, what, err := v.run(readFrom(f, chain{prev: firstSum}, 0))
	if err != nil {
		return Verification{}, fmt.Errorf("read %s: %w", j.nbs.Label(fileName), err)
	}
	if what != "" {
		v.result.Broken = &BrokenError{File: j.Path(), Line: line, What: what}
	}
	return v.result, nil
}

// verifier checks the chain line by line. A link that does not fit proves the place, but not which line was changed.
type verifier struct {
	head      head
	headKnown bool
	headSeen  bool
	result    Verification
}

// run returns the line at which the chain is broken, and how; "" if it is whole.
func (v *verifier) run(lines *reader) (line int, what string, err error) {
	for {
		next, err := lines.next()
		switch {
		case errors.Is(err, io.EOF):
			return max(1, lines.number), v.atEnd(lines.at), nil
		case err != nil:
			return 0, "", err
		}
		if what := v.visit(next, lines.chain); what != "" {
			return next.number, what, nil
		}
	}
}

// visit checks one line; after is the chain behind it.
func (v *verifier) visit(l entry, after chain) (what string) {
	v.result.Lines = l.number
	switch l.kind {
	case torn:
		if len(v.result.Torn) < tornNamed {
			v.result.Torn = append(v.result.Torn, l.number)
		}
	case foreign:
		return "altered, or written by another program: it is not a link of the chain"
	case link:
		if !l.fits() {
			return "the chain is broken: this line or one before it was altered, removed, inserted or moved"
		}
		v.result.Links++
	}
	if v.headKnown && l.end == v.head.size {
		v.headSeen = true
		if after != (chain{prev: v.head.sum}) {
			return "altered: it does not match the head of the chain"
		}
	}
	return ""
}

// atEnd checks that the line that the head names was there.
func (v *verifier) atEnd(size int64) (what string) {
	switch {
	case !v.headKnown || v.headSeen || v.head.size == 0:
		return ""
	case v.head.size > size:
		return fmt.Sprintf("%d bytes that followed it were cut off", v.head.size-size)
	default:
		return "a line break was altered: the head of the chain does not point to the end of a line"
	}
}
