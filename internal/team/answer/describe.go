package answer

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"nbs-worker/internal/human"
	"nbs-worker/internal/store/requests"
)

// Text is what a request asks for, in words that are harmless to print.
type Text struct {
	Title     string     // in one line: "Bash: rm -rf build"
	Body      string     // the input whole, of one or more lines, without a line break at the end
	Questions []Question // of a request that asks questions; empty: it is allowed or denied
	Always    []string   // the rules that Claude itself suggests for such requests, in words; empty: none
	What      string     // the title without the tool
}

const titleLimit = 200 // characters

// Describe returns a request in words. It reads no file: an edit is shown by what Claude replaces.
func Describe(r requests.Request) Text {
	input := inputOf(&r)
	text := Text{Questions: questionsOf(&r), Always: suggestedWords(r.Suggested)}
	text.What = human.Cut(harmless(input.gist(r.Tool, text.Questions)), titleLimit, human.Letter)
	text.Title = human.Cut(harmless(r.Tool), titleLimit, human.Letter) + ": " + text.What
	text.Body = human.Legible(strings.TrimRight(input.body(r.Tool, text.Questions), "\n"))
	return text
}

// fields are the input of a tool.
type fields map[string]json.RawMessage

func inputOf(r *requests.Request) fields {
	var input fields
	if json.Unmarshal(r.Input, &input) != nil {
		input = fields{"input": r.Input}
	}
	return input
}

// text returns a field as text: a string as it is, anything else as JSON.
func (in fields) text(name string) string {
	raw, has := in[name]
	if !has {
		return ""
	}
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	return string(raw)
}

// The tools that are shown in a way of their own.
const (
	toolQuestion = "AskUserQuestion"
	toolPlan     = "ExitPlanMode"
)

// leading are the fields that say most of an input, in the order of their weight.
var leading = []string{"command", "file_path", "notebook_path", "path", "url", "query", "pattern", "plan", "prompt", "description"}

// gist returns the part of an input that says most.
func (in fields) gist(tool string, questions []Question) string {
	if len(questions) > 0 {
		return questions[0].Text
	}
	if tool == toolPlan {
		return "a plan to begin with"
	}
	for _, name := range leading {
		if text := in.text(name); text != "" {
			return text
		}
	}
	for _, name := range slices.Sorted(maps.Keys(in)) {
		return name + " " + in.text(name)
	}
	return "no input"
}

// body returns an input whole. Each line of a text of several lines is indented, so that no text looks like a field.
func (in fields) body(tool string, questions []Question) string {
	var b strings.Builder
	rest := maps.Clone(in)
	if len(questions) > 0 {
		for i := range questions {
			questions[i].write(&b, len(questions) > 1)
		}
		delete(rest, "questions")
	}
	for _, name := range leading {
		if _, has := rest[name]; has {
			writeField(&b, name, in.text(name))
			delete(rest, name)
		}
	}
	writeEdits(&b, rest)
	for _, name := range slices.Sorted(maps.Keys(rest)) {
		writeField(&b, name, in.text(name))
	}
	if b.Len() == 0 {
		return tool + " has no input"
	}
	return b.String()
}

func writeField(b *strings.Builder, name, text string) {
	name = human.Word(name)
	if !strings.Contains(text, "\n") {
		b.WriteString(name + ": " + text + "\n")
		return
	}
	b.WriteString(name + ":\n")
	for line := range strings.Lines(strings.TrimRight(text, "\n")) {
		b.WriteString("  " + strings.TrimRight(line, "\n") + "\n")
	}
}
