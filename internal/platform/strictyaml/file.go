// Package strictyaml reads the YAML files that users write: it collects all mistakes of a file, each with its line and
// column, and refuses what it does not know.
package strictyaml

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
)

// Reader collects the mistakes of one file.
type Reader struct {
	mistakes []mistake
}

type mistake struct {
	line, column int
	text         string
}

// Read reads the only document of a file by a function, which reports mistakes through the reader. A file without a
// document is not read. Errors: BadInput, which lists all mistakes; what names the file in it: "schedules", with its name.
func Read(what, name string, text []byte, read func(r *Reader, root *yaml.Node)) error {
	r := &Reader{}
	if err := r.load(text, read); err != nil {
		r.mistakes = []mistake{r.unreadable(err)}
	}
	if len(r.mistakes) == 0 {
		return nil
	}
	slices.SortStableFunc(r.mistakes, func(a, b mistake) int {
		return cmp.Or(cmp.Compare(a.line, b.line), cmp.Compare(a.column, b.column))
	})
	var lines []string
	for _, wrong := range r.mistakes {
		lines = append(lines, fmt.Sprintf("line %d, column %d: %s", wrong.line, wrong.column, wrong.text))
	}
	all := strings.Join(lines, "\n")
	if len(lines) > 1 {
		all = human.Count(len(lines), "mistake") + "\n" + all
	}
	return fail.Errorf(fail.BadInput, "%s %s, %s", what, human.Quote(name), all)
}

func (r *Reader) load(text []byte, read func(r *Reader, root *yaml.Node)) error {
	loader, err := yaml.NewLoader(bytes.NewReader(text))
	if err != nil {
		return err
	}
	var document, more yaml.Node
	if err := loader.Load(&document); errors.Is(err, io.EOF) {
		return nil
	} else if err != nil {
		return err
	}
	if err := loader.Load(&more); err == nil {
		r.Wrong(&more, "there is a second document; one is read")
	} else if !errors.Is(err, io.EOF) {
		return err
	}
	read(r, document.Content[0])
	return nil
}

// Wrong notes a mistake at a node.
func (r *Reader) Wrong(at *yaml.Node, format string, args ...any) {
	r.mistakes = append(r.mistakes, mistake{max(1, at.Line), max(1, at.Column), fmt.Sprintf(format, args...)})
}

// Mistakes returns how many mistakes were noted so far.
func (r *Reader) Mistakes() int { return len(r.mistakes) }

// unreadable describes an error from the YAML parser.
func (r *Reader) unreadable(err error) mistake {
	if one, is := errors.AsType[*yaml.LoadError](err); is {
		return mistake{max(1, one.Mark.Line), max(1, one.Mark.Column), strings.TrimSpace(one.Message)}
	}
	return mistake{1, 1, err.Error()}
}
