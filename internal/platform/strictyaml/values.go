package strictyaml

import (
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v4"

	"nbs-worker/internal/human"
)

// Text reads a text. A number, or a word like yes, counts as text.
func (r *Reader) Text(node *yaml.Node) string {
	node = meant(node)
	if node.Kind != yaml.ScalarNode || node.Tag == "!!null" || node.Tag == "!!binary" || node.Value == "" {
		r.Wrong(node, "a text belongs here")
		return ""
	}
	return node.Value
}

// Texts reads a list of texts; one text alone counts as a list of it.
func (r *Reader) Texts(node *yaml.Node) []string {
	if node.Kind != yaml.SequenceNode {
		return []string{r.Text(node)}
	}
	var texts []string
	for _, item := range node.Content {
		texts = append(texts, r.Text(item))
	}
	return texts
}

// Yes reads true or false.
func (r *Reader) Yes(node *yaml.Node, field string) bool {
	if node.Kind != yaml.ScalarNode || node.Value != "true" && node.Value != "false" {
		r.Wrong(node, "%s: %s must be true or false", field, human.Quote(node.Value))
	}
	return node.Value == "true"
}

// OneOf reads one of the known words.
func OneOf[Word ~string](r *Reader, node *yaml.Node, field string, known ...Word) Word {
	word := Word(r.Text(node))
	if !slices.Contains(known, word) {
		names := make([]string, len(known))
		for i := range known {
			names[i] = string(known[i])
		}
		r.Wrong(node, "%s: %s must be one of %s", field, human.Quote(string(word)), human.And(names))
	}
	return word
}

// Duration reads a duration in whole seconds; 0 if it is missing or invalid.
func (r *Reader) Duration(node *yaml.Node, least time.Duration) time.Duration {
	text := r.Text(node)
	if text == "" {
		return 0
	}
	parsed, err := time.ParseDuration(text)
	if err != nil || parsed < least || parsed%time.Second != 0 {
		r.Wrong(node, "%s is no time of whole seconds, %s or more, such as 90s, 15m or 12h", human.Quote(text), strings.TrimSuffix(least.String(), "0s"))
		return 0
	}
	return parsed
}

// Fields returns the known fields of a mapping by name; nil if the node is no mapping.
func (r *Reader) Fields(node *yaml.Node, what string, known ...string) map[string]*yaml.Node {
	if node.Kind != yaml.MappingNode {
		r.Wrong(node, "%s: fields belong here: %s", what, strings.Join(known, ", "))
		return nil
	}
	has := map[string]*yaml.Node{}
	for name, value := range r.Pairs(node, what) {
		switch {
		case !slices.Contains(known, name.Value):
			r.unknown(name, what, known)
		case has[name.Value] != nil:
			r.Wrong(name, "%s: %s is there twice", what, name.Value)
		default:
			has[name.Value] = value
		}
	}
	return has
}

// unknown notes a field that does not exist, with the one that was probably meant.
func (r *Reader) unknown(name *yaml.Node, what string, known []string) {
	if near := human.Nearest(name.Value, known); near != "" {
		r.Wrong(name, "%s: there is no field %s; did you mean %s?", what, human.Quote(name.Value), near)
		return
	}
	r.Wrong(name, "%s: there is no field %s; there are %s", what, human.Quote(name.Value), strings.Join(known, ", "))
}

// Pairs returns the names and values of a mapping, in file order.
func (r *Reader) Pairs(node *yaml.Node, what string) func(yield func(name, value *yaml.Node) bool) {
	return func(yield func(name, value *yaml.Node) bool) {
		if node.Kind != yaml.MappingNode {
			r.Wrong(node, "%s: names with something below them belong here", what)
			return
		}
		for i := 0; i+1 < len(node.Content); i += 2 {
			if !yield(node.Content[i], meant(node.Content[i+1])) {
				return
			}
		}
	}
}

// meant returns what an alias stands for, and another node itself.
func meant(node *yaml.Node) *yaml.Node {
	if node.Kind == yaml.AliasNode {
		return node.Alias
	}
	return node
}
