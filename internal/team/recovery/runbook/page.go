// Package runbook reads pages that a person follows and the program executes, and runs them.
//
// A page is Markdown. Its first line is the title, the paragraph below it the summary; a list
// before the first section declares the parameters, each by a code span: `handle` has to be set,
// `patience=10m` has a default. A fenced block is a step when its info string says so:
//
//	```sh {step=resume expect="0 5"}
//	nbs-worker resume $handle
//	```
//
// All else is prose. A step is lines of nbs-worker with arguments, split into words as a shell
// splits them, so that a person can paste them; but no shell is involved, and what a shell would
// expand, pipe or redirect is an error that names the line. A parameter is a whole word, $handle
// or "$handle", and becomes one argument, which is never split and never a flag. The attributes of a step:
//
//   - step is its name;
//   - expect are the exit codes that are success, instead of 0;
//   - check says that the step changes nothing and proves what the ones before it did;
//   - confirm is asked before the step, and --yes answers it;
//   - ask is asked after the step, of a person who judges by its output; --yes does not answer it.
//
// The package runs the verbs through [Verbs] and writes down how far it came through [Log]. It
// knows no flags, prints nothing and must not import the packages that act on agents.
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
	Summary    string // on one line
	Parameters []Parameter
	Steps      []Step
	Text       string // as it is in the file
}

// Parameter is a word that is set for each run.
type Parameter struct {
	Name     string
	About    string
	Default  string
	Required bool // it has no default
}

// Step is one fenced block that executes.
type Step struct {
	Name     string
	Title    string // of the section that it stands in, without its number
	Line     int    // of the fence
	Commands []Command
	Expect   []int // exit codes that are success
	Check    bool
	Confirm  string // a question before; "" for none
	Ask      string // a question after; "" for none
}

// Command is one line of a step, without "nbs-worker".
type Command struct {
	Line  int
	words []word
}

// String is the command as it stands on the page, with the names of its parameters.
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

// Index returns the index of the step with this name. Errors: BadInput when there is none.
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
