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

// BrokenError is the first place where the journal was changed.
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

// verifier checks the chain line by line. If a link does not fit, either the link or the line before it was changed.
// The next link, or the head, shows which.
type verifier struct {
	head      head
	headKnown bool
	headSeen  bool
	result    Verification
	previous  entry  // the line before this one
	suspect   *entry // a link that does not fit; no witness yet
	before    entry  // the line before the suspect
}

// run returns the line at which the chain is broken, and how; "" if it is whole.
func (v *verifier) run(lines *reader) (line int, what string, err error) {
	for {
		next, err := lines.next()
		if errors.Is(err, io.EOF) {
			line, what := v.atEnd(lines)
			return line, what, nil
		}
		if err != nil {
			return 0, "", err
		}
		if line, what := v.visit(next, lines.chain); what != "" {
			return line, what, nil
		}
		v.previous = next
	}
}

// visit checks one line; after is the chain behind it.
func (v *verifier) visit(l entry, after chain) (line int, what string) {
	v.result.Lines = l.number
	switch l.kind {
	case torn:
		if len(v.result.Torn) < tornNamed {
			v.result.Torn = append(v.result.Torn, l.number)
		}
	case foreign:
		return l.number, "altered, or written by another program: it is not a link of the chain"
	case link:
		if v.suspect != nil {
			return v.blame(l.fits())
		}
		v.result.Links++
		if !l.fits() {
			v.suspect, v.before = &l, v.previous
		}
	}
	return v.atHead(l, after)
}

// atHead checks the line that the head names.
func (v *verifier) atHead(l entry, after chain) (line int, what string) {
	if !v.headKnown || l.end != v.head.size {
		return 0, ""
	}
	v.headSeen = true
	same := after == chain{prev: v.head.sum}
	switch {
	case v.suspect != nil && v.suspect.number == l.number:
		return v.blame(same)
	case !same:
		return l.number, "altered: it does not match the head of the chain"
	}
	return 0, ""
}

// blame returns the changed line, once the next link or the head has shown whether the suspect is unchanged.
func (v *verifier) blame(innocent bool) (line int, what string) {
	switch {
	case !innocent:
		return v.suspect.number, "altered, inserted or moved"
	case v.before.number == 0:
		return v.suspect.number, "the lines before it were removed"
	case v.suspect.before.over > 1 && v.before.kind != link:
		first := v.suspect.number - v.suspect.before.over
		return first, fmt.Sprintf("altered; or a later line up to line %d was altered, removed or inserted", v.before.number)
	default:
		return v.before.number, fmt.Sprintf("altered or inserted; or lines between it and line %d were removed", v.suspect.number)
	}
}

func (v *verifier) atEnd(lines *reader) (line int, what string) {
	switch {
	case v.suspect != nil:
		return v.suspect.number, "altered, or the line before it was altered"
	case !v.headKnown || v.headSeen || v.head.size == 0:
		return 0, ""
	case v.head.size > lines.at:
		return max(1, lines.number), fmt.Sprintf("%d bytes that followed it were cut off", v.head.size-lines.at)
	default:
		return max(1, lines.number), "a line break was altered: the head of the chain does not point to the end of a line"
	}
}
