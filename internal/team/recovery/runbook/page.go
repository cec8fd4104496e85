// Package runbook parses and runs pages. A person can follow a page, and the program can execute it.
//
// A page is Markdown. Its first line is the title, and the paragraph below it is the summary. A list before the first
// section declares the parameters, each by a code span: `handle` is required, `patience=10m` has a default. A fenced
// block is a step if its info string says so:
//
//	```sh {step=resume expect="0 5"}
//	nbs-worker resume $handle
//	```
//
// Everything outside of steps is prose. A step consists of lines with nbs-worker and arguments. They are split into
// words as in a shell, so that a person can paste them. But no shell runs: if a shell would expand, pipe or redirect
// something, that is an error which names the line. A parameter is a whole word, $handle or "$handle", and becomes
// one argument. It is never split and never a flag. The attributes of a step:
//
//   - step is its name;
//   - expect lists the exit codes that mean success, instead of 0;
//   - check says that the step changes nothing and verifies the steps before it;
//   - confirm is a question before the step, and --yes answers it;
//   - ask is a question after the step, for a person who judges its output; --yes does not answer it.
//
// The package runs the verbs through [Verbs] and records its progress through [Log]. It knows no flags, prints
// nothing and must not import the packages that act on agents.
package runbook

import (
	"slices"
	"strings"

	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
)

// Page is a parsed page.
type Page struct {
	Name       string
	Title      string
	Summary    string // in one line
	Parameters []Parameter
	Steps      []Step
	Text       string // unchanged, from the file
}

// Parameter is a word that is set for each run.
type Parameter struct {
	Name     string
	About    string
	Default  string
	Required bool // it has no default
}

// Step is a fenced block that executes.
type Step struct {
	Name     string
	Title    string // of the section that contains it, without its number
	Line     int    // of the fence
	Commands []Command
	Expect   []int // exit codes that mean success
	Check    bool
	Confirm  string // a question before the step; "": no question
	Ask      string // a question after the step; "": no question
}

// Command is one line of a step, without "nbs-worker".
type Command struct {
	Line  int
	words []word
}

// String returns the command in the form of the page, with the names of its parameters.
func (c Command) String() string {
	var words []string
	for _, w := range c.words {
		text := "$" + w.parameter
		if w.parameter == "" {
			text = w.text
			if strings.ContainsAny(text, " $'"+active) || text == "" {
				text = human.ShellWord(text)
			}
		}
		words = append(words, text)
	}
	return strings.Join(words, " ")
}

// ParseName checks the name of a page given by a user. Errors: BadInput.
func ParseName(name string) error {
	if isName(name) {
		return nil
	}
	return fail.Errorf(fail.BadInput, "%s is no name of a runbook: small letters, digits and '-'", human.Quote(name)).
		Hint("to see which there are: nbs-worker runbook list")
}

// isName reports whether a page, a step or a parameter can have this name.
func isName(s string) bool {
	const limit = 40
	return s != "" && len(s) <= limit && s[0] != '-' && strings.Trim(s, "abcdefghijklmnopqrstuvwxyz0123456789-") == ""
}

// Index returns the index of the step with this name. Errors: BadInput if there is no such step.
func (p *Page) Index(step string) (int, error) {
	at := slices.IndexFunc(p.Steps, func(s Step) bool { return s.Name == step })
	if at < 0 {
		return 0, fail.Errorf(fail.BadInput, "there is no step %s; the steps are %s", human.Quote(step), strings.Join(p.stepNames(), ", "))
	}
	return at, nil
}

func (p *Page) stepNames() []string {
	var names []string
	for _, s := range p.Steps {
		names = append(names, s.Name)
	}
	return names
}

func (p *Page) parameter(name string) *Parameter {
	at := slices.IndexFunc(p.Parameters, func(q Parameter) bool { return q.Name == name })
	if at < 0 {
		return nil
	}
	return &p.Parameters[at]
}
