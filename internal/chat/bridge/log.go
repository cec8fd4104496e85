package bridge

import (
	"fmt"
	"sync"

	"nbs-worker/internal/human"
)

// Log writes lines for the operator: with the name of a system, and without its secrets.
type Log struct {
	name string
	hide func(text string) string
	out  func(line string)

	mu    sync.Mutex
	noted map[string]bool // lines that are written once
}

// NewLog returns a log of a system that writes each line with out.
func NewLog(name string, hide func(text string) string, out func(line string)) *Log {
	return &Log{name: name, hide: hide, out: out, noted: map[string]bool{}}
}

// Printf writes a line.
func (l *Log) Printf(format string, args ...any) {
	const longest = 500 // an error may contain a page
	line := human.Legible(l.hide(fmt.Sprintf(format, args...)))
	l.out(l.name + ": " + line[:min(len(line), longest)])
}

// Once writes a line that was not written yet.
func (l *Log) Once(line string) {
	const most = 1000 // unknown users may write from many chats
	l.mu.Lock()
	isNew := !l.noted[line] && len(l.noted) < most
	if isNew {
		l.noted[line] = true
	}
	l.mu.Unlock()
	if isNew {
		l.Printf("%s", line)
	}
}

func (b *Bridge) log(format string, args ...any) { b.lines.Printf(format, args...) }

func (b *Bridge) once(line string) { b.lines.Once(line) }
