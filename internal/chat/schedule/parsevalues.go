package schedule

import (
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"nbs-worker/internal/human"

	"go.yaml.in/yaml/v4"
)

// location reads a time zone.
func (p *parser) location(node *yaml.Node) *time.Location {
	name := p.text(node)
	zone, err := time.LoadLocation(name)
	if err != nil || name == "" || name == "Local" {
		p.wrong(node, "zone: %s is no time zone, such as Europe/Berlin or UTC", human.Quote(name))
		return time.UTC
	}
	return zone
}

// duration reads a duration in whole seconds; 0 if it is missing or invalid.
func (p *parser) duration(node *yaml.Node, least time.Duration) time.Duration {
	text := p.text(node)
	if text == "" {
		return 0
	}
	parsed, err := time.ParseDuration(text)
	if err != nil || parsed < least || parsed%time.Second != 0 {
		p.wrong(node, "%s is no time of whole seconds, %s or more, such as 90s, 15m or 12h", human.Quote(text), strings.TrimSuffix(least.String(), "0s"))
		return 0
	}
	return parsed
}

// oneOf reads one of the known words.
func oneOf[Word ~string](p *parser, node *yaml.Node, field string, known ...Word) Word {
	word := Word(p.text(node))
	if !slices.Contains(known, word) {
		p.wrong(node, "%s: %s must be one of %s and %s", field, human.Quote(string(word)), known[0], known[1])
	}
	return word
}

// yes reads true or false.
func (p *parser) yes(node *yaml.Node, field string) bool {
	if node.Kind != yaml.ScalarNode || node.Value != "true" && node.Value != "false" {
		p.wrong(node, "%s: %s must be true or false", field, human.Quote(node.Value))
	}
	return node.Value == "true"
}

// text reads a text. A number, or a word like yes, counts as text.
func (p *parser) text(node *yaml.Node) string {
	if node.Kind != yaml.ScalarNode || node.Tag == "!!null" || node.Tag == "!!binary" || node.Value == "" {
		p.wrong(node, "a text belongs here")
		return ""
	}
	return node.Value
}

// fields returns the known fields of a mapping by name; nil if the node is no mapping.
func (p *parser) fields(node *yaml.Node, what string, known ...string) map[string]*yaml.Node {
	if node.Kind != yaml.MappingNode {
		p.wrong(node, "%s: fields belong here: %s", what, strings.Join(known, ", "))
		return nil
	}
	has := map[string]*yaml.Node{}
	for name, value := range p.pairs(node, what) {
		switch {
		case !slices.Contains(known, name.Value):
			p.wrong(name, "%s: there is no field %s; there are %s", what, human.Quote(name.Value), strings.Join(known, ", "))
		case has[name.Value] != nil:
			p.wrong(name, "%s: %s is there twice", what, name.Value)
		default:
			has[name.Value] = value
		}
	}
	return has
}

// pairs returns the names and values of a mapping, in file order.
func (p *parser) pairs(node *yaml.Node, what string) func(yield func(name, value *yaml.Node) bool) {
	return func(yield func(name, value *yaml.Node) bool) {
		if node.Kind != yaml.MappingNode {
			p.wrong(node, "%s: names with something below them belong here", what)
			return
		}
		for i := 0; i+1 < len(node.Content); i += 2 {
			value := node.Content[i+1]
			if value.Kind == yaml.AliasNode {
				value = value.Alias
			}
			if !yield(node.Content[i], value) {
				return
			}
		}
	}
}

// lineOf returns the line of an error from the YAML parser.
func lineOf(err error) int {
	if one, ok := errors.AsType[*yaml.LoadError](err); ok {
		return max(1, one.Mark.Line)
	}
	return 1
}

// what describes an error from the YAML parser. An unquoted cron expression that begins with * is not valid YAML.
func what(err error, text []byte) string {
	message := err.Error()
	if one, ok := errors.AsType[*yaml.LoadError](err); ok {
		message = strings.TrimSpace(one.Message)
	}
	lines := strings.Split(string(text), "\n")
	for i := lineOf(err); i > 0 && i > lineOf(err)-2; i-- {
		if i > len(lines) {
			continue
		}
		if expression, is := strings.CutPrefix(strings.TrimSpace(lines[i-1]), "cron: *"); is {
			return message + "; quote the expression: cron: " + strconv.Quote("*"+expression)
		}
	}
	return message
}
