package schedule

import (
	"fmt"
	"strings"
	"time"

	"go.yaml.in/yaml/v4"

	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
	"nbs-worker/internal/platform/strictyaml"
)

// SealKind is the kind of the file's seal by the user.
const SealKind = "schedules"

// Parse parses the file; name is used in messages. Errors: BadInput, which lists all mistakes, each with its place and
// what is expected there.
func Parse(name string, text []byte) (*File, error) {
	p := &parser{file: &File{}, zone: time.UTC}
	err := strictyaml.Read("schedules", name, text, func(r *strictyaml.Reader, root *yaml.Node) {
		p.Reader = r
		p.read(root)
	})
	if err != nil {
		wrong := fail.Errorf(fail.BadInput, "%w", err)
		if expression := unquoted(text); expression != "" {
			_ = wrong.Hint("quote the expression: cron: %q", expression)
		}
		return nil, wrong.Hint("what it may say: nbs-worker help schedule")
	}
	return p.file, nil
}

// unquoted returns the first cron expression that begins with * and has no quotes: it is not valid YAML. "" if there is
// no such expression.
func unquoted(text []byte) string {
	for line := range strings.Lines(string(text)) {
		if expression, is := strings.CutPrefix(strings.TrimSpace(line), "cron: *"); is {
			return "*" + expression
		}
	}
	return ""
}

// parser reads the file.
type parser struct {
	*strictyaml.Reader

	file *File
	zone *time.Location
}

// read reads the whole file.
func (p *parser) read(root *yaml.Node) {
	top := p.Fields(root, "the file", "zone", "reset_at", "idle_reset", "keys", "schedules")
	if node := top["zone"]; node != nil {
		p.zone = p.location(node)
	}
	p.resets(top)
	node := top["schedules"]
	if node == nil {
		return
	}
	seen := map[string]int{}
	for name, entry := range p.Pairs(node, "schedules") {
		if line, twice := seen[name.Value]; twice {
			p.Wrong(name, "there is a schedule %s already, in line %d", human.Quote(name.Value), line)
			continue
		}
		seen[name.Value] = name.Line
		p.entry(name, entry)
	}
}

func (p *parser) resets(top map[string]*yaml.Node) {
	r := &p.file.Resets
	if node := top["reset_at"]; node != nil {
		r.Clock, r.Zone = p.Text(node), p.zone.String()
		at, err := time.Parse("15:04", r.Clock)
		if err != nil || r.Clock != at.Format("15:04") {
			p.Wrong(node, "reset_at: %s is no time of day, such as \"04:00\"", human.Quote(r.Clock))
		} else if times, err := cronTimes(fmt.Sprintf("%d %d * * *", at.Minute(), at.Hour()), p.zone); err == nil {
			r.Daily = &times
		}
	}
	if node := top["idle_reset"]; node != nil {
		r.Idle = p.Duration(node, time.Minute)
	}
	if node := top["keys"]; node != nil {
		if node.Kind != yaml.SequenceNode || len(node.Content) == 0 {
			p.Wrong(node, "keys: it must be a list of conversations, such as [telegram:*, review]; without it all are reset")
			return
		}
		if r.None() {
			p.Wrong(node, "keys: it says which conversations are reset; say when: reset_at: \"04:00\" or idle_reset: 12h")
		}
		for _, item := range node.Content {
			key := p.Text(item)
			if key == "" || strings.ContainsAny(key, " \t\n") || !human.IsLegible(key) || strings.Contains(strings.TrimSuffix(key, "*"), "*") {
				p.Wrong(item, "keys: %s is no conversation, nor the beginning of some with * at its end", human.Quote(key))
			}
			r.Keys = append(r.Keys, key)
		}
	}
}
