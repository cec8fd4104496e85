package schedule

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"

	"go.yaml.in/yaml/v4"
)

// SealKind is the kind of the file's seal by the user.
const SealKind = "schedules"

// Parse parses the file; name is used in messages. Errors: BadInput, which lists all mistakes, each with its line and
// what is expected there.
func Parse(name string, text []byte) (*File, error) {
	p := &parser{file: &File{}, zone: time.UTC}
	if err := p.parse(text); err != nil {
		p.problems = []problem{{lineOf(err), what(err, text)}}
	}
	if len(p.problems) == 0 {
		return p.file, nil
	}
	slices.SortStableFunc(p.problems, func(a, b problem) int { return cmp.Compare(a.line, b.line) })
	var lines []string
	for _, wrong := range p.problems {
		lines = append(lines, fmt.Sprintf("line %d: %s", wrong.line, wrong.text))
	}
	all := strings.Join(lines, "\n")
	if len(lines) > 1 {
		all = human.Count(len(lines), "mistake") + "\n" + all
	}
	return nil, fail.Errorf(fail.BadInput, "schedules %s, %s", human.Quote(name), all).
		Hint("what it may say: nbs-worker schedule --help")
}

// parser collects the mistakes.
type parser struct {
	file     *File
	zone     *time.Location
	problems []problem
}

type problem struct {
	line int
	text string
}

func (p *parser) wrong(at *yaml.Node, format string, args ...any) {
	p.problems = append(p.problems, problem{max(1, at.Line), fmt.Sprintf(format, args...)})
}

func (p *parser) parse(text []byte) error {
	loader, err := yaml.NewLoader(bytes.NewReader(text))
	if err != nil {
		return err
	}
	var document, more yaml.Node
	if err := loader.Load(&document); errors.Is(err, io.EOF) {
		return nil // nothing to run
	} else if err != nil {
		return err
	}
	if err := loader.Load(&more); err == nil {
		p.wrong(&more, "there is a second document; one is read")
	} else if !errors.Is(err, io.EOF) {
		return err
	}
	p.read(document.Content[0])
	return nil
}

// read reads the whole file.
func (p *parser) read(root *yaml.Node) {
	top := p.fields(root, "the file", "zone", "reset_at", "idle_reset", "keys", "schedules")
	if node := top["zone"]; node != nil {
		p.zone = p.location(node)
	}
	p.resets(top)
	node := top["schedules"]
	if node == nil {
		return
	}
	seen := map[string]int{}
	for name, entry := range p.pairs(node, "schedules") {
		if line, twice := seen[name.Value]; twice {
			p.wrong(name, "there is a schedule %s already, in line %d", human.Quote(name.Value), line)
			continue
		}
		seen[name.Value] = name.Line
		p.entry(name, entry)
	}
}

func (p *parser) resets(top map[string]*yaml.Node) {
	r := &p.file.Resets
	if node := top["reset_at"]; node != nil {
		r.Clock, r.Zone = p.text(node), p.zone.String()
		at, err := time.Parse("15:04", r.Clock)
		if err != nil || r.Clock != at.Format("15:04") {
			p.wrong(node, "reset_at: %s is no time of day, such as \"04:00\"", human.Quote(r.Clock))
		} else if times, err := cronTimes(fmt.Sprintf("%d %d * * *", at.Minute(), at.Hour()), p.zone); err == nil {
			r.Daily = &times
		}
	}
	if node := top["idle_reset"]; node != nil {
		r.Idle = p.duration(node, time.Minute)
	}
	if node := top["keys"]; node != nil {
		if node.Kind != yaml.SequenceNode || len(node.Content) == 0 {
			p.wrong(node, "keys: it must be a list of conversations, such as [telegram:*, review]; without it all are reset")
			return
		}
		if r.None() {
			p.wrong(node, "keys: it says which conversations are reset; say when: reset_at: \"04:00\" or idle_reset: 12h")
		}
		for _, item := range node.Content {
			key := p.text(item)
			if key == "" || strings.ContainsAny(key, " \t\n") || !human.IsLegible(key) || strings.Contains(strings.TrimSuffix(key, "*"), "*") {
				p.wrong(item, "keys: %s is no conversation, nor the beginning of some with * at its end", human.Quote(key))
			}
			r.Keys = append(r.Keys, key)
		}
	}
}
