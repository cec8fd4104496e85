package runbook

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
)

const (
	pageLimit = 128 << 10 // bytes
	program   = "nbs-worker"
)

// errProse is the error for a page that executes nothing.
var errProse = errors.New("the page has no step, as ```sh {step=look} begins one")

// Parse parses a page. It accepts a part of Markdown, strictly: a line that other readers of Markdown could
// understand differently is an error. Errors: BadInput, naming the line.
func Parse(name, text string) (*Page, error) {
	p := &Page{Name: name, Text: text}
	r := reader{page: p, lines: strings.Split(strings.TrimSuffix(text, "\n"), "\n")}
	if err := r.read(); err != nil {
		return nil, fail.Errorf(fail.BadInput, "runbook %s, line %d: %w", name, r.line, err)
	}
	return p, nil
}

// reader goes through a page once.
type reader struct {
	page    *Page
	lines   []string
	line    int // number of the last line read, from 1
	section string
	inHead  bool // no section has begun
	inItem  bool // the line before belongs to a parameter
}

func (r *reader) read() error {
	if err := r.readTitle(); err != nil {
		return err
	}
	r.inHead = true
	for r.line < len(r.lines) {
		if err := r.readBlock(r.next()); err != nil {
			return err
		}
	}
	if len(r.page.Steps) == 0 {
		return errProse
	}
	if last := r.page.Steps[len(r.page.Steps)-1]; last.Ask != "" {
		r.line = last.Line
		return fmt.Errorf("step %s asks, and no step follows for which the answer would count", last.Name)
	}
	return nil
}

func (r *reader) next() string {
	r.line++
	return r.lines[r.line-1]
}

func (r *reader) readTitle() error {
	title, ok := strings.CutPrefix(r.next(), "# ")
	switch {
	case len(r.page.Text) > pageLimit:
		return fmt.Errorf("the page is larger than %d bytes", pageLimit)
	case !human.IsLegible(r.page.Text):
		return errors.New("the page has a character that does not show, such as a carriage return")
	case !ok:
		return errors.New("the page does not begin with its title, as # Title")
	}
	r.page.Title = strings.TrimSpace(title)
	r.section = r.page.Title
	return nil
}

// readBlock reads the block that begins with a line: a section, a fence, or prose.
func (r *reader) readBlock(line string) error {
	trimmed := strings.TrimLeft(line, " \t")
	switch {
	case strings.HasPrefix(trimmed, "<"):
		return errors.New("the page has HTML, which readers show in different ways")
	case strings.HasPrefix(trimmed, "```") || strings.HasPrefix(trimmed, "~~~"):
		if trimmed != line || line[0] == '~' {
			return errors.New("a fence is made of ``` and begins its line")
		}
		return r.readFence(line)
	case strings.HasPrefix(line, "## "):
		r.section, r.inHead = strings.TrimLeft(line[3:], "0123456789. "), false // the number is not part of the title
	case r.inHead:
		return r.readHead(line)
	}
	return nil
}

// readHead reads a line before the first section: summary or parameter.
func (r *reader) readHead(line string) error {
	declared, isParameter := strings.CutPrefix(line, "- `")
	goesOn := r.inItem && strings.HasPrefix(line, "  ")
	r.inItem = isParameter || goesOn
	switch {
	case isParameter:
		return r.readParameter(declared)
	case goesOn:
		last := &r.page.Parameters[len(r.page.Parameters)-1]
		last.About += " " + strings.TrimSpace(line)
	case len(r.page.Parameters) == 0 && line != "" && !r.paragraphEnded():
		r.page.Summary = strings.TrimSpace(r.page.Summary + " " + line)
	}
	return nil
}

// paragraphEnded reports whether the first paragraph has ended.
func (r *reader) paragraphEnded() bool {
	return r.page.Summary != "" && r.lines[r.line-2] == ""
}

func (r *reader) readParameter(declared string) error {
	declared, about, ok := strings.Cut(declared, "`: ")
	if !ok {
		return errors.New("a parameter is declared as - `name`: what it is, or - `name=default`: what it is")
	}
	name, usual, hasDefault := strings.Cut(declared, "=")
	switch {
	case !isName(name):
		return fmt.Errorf("%s is no name of a parameter: small letters, digits and '-'", human.Quote(name))
	case r.page.parameter(name) != nil:
		return fmt.Errorf("the parameter %s is declared twice", name)
	case hasDefault && checkValue(usual) != nil:
		return fmt.Errorf("the default of %s: %w", name, checkValue(usual))
	}
	r.page.Parameters = append(r.page.Parameters, Parameter{Name: name, About: about, Default: usual, Required: !hasDefault})
	return nil
}

// readFence reads a fenced block to its end.
func (r *reader) readFence(opening string) error {
	info := strings.TrimLeft(opening, "`")
	fence := opening[:len(opening)-len(info)]
	step, isStep, err := readInfo(info)
	if err != nil {
		return err
	}
	step.Line, step.Title = r.line, r.section
	for r.line < len(r.lines) {
		line := r.next()
		if closes(line, fence) {
			if !isStep {
				return nil
			}
			return r.add(step)
		}
		if !isStep {
			continue
		}
		if err := r.readCommand(&step, line); err != nil {
			return err
		}
	}
	r.line = step.Line
	return errors.New("the fence is not closed")
}

// closes reports whether a line ends a fenced block.
func closes(line, fence string) bool {
	const most = 3 // spaces before the fence
	inner := strings.TrimLeft(line, " ")
	return len(line)-len(inner) <= most && strings.HasPrefix(inner, fence) && strings.Trim(strings.TrimRight(inner, " \t"), "`") == ""
}

// readInfo reads the info string of a fence: a language and, for a step, its attributes.
func readInfo(info string) (step Step, isStep bool, err error) {
	_, attributes, found := strings.Cut(info, "{")
	switch {
	case strings.Contains(info, "`"):
		return step, false, errors.New("a fence has no ` behind it")
	case !found:
		return step, false, nil
	}
	attributes, closed := strings.CutSuffix(strings.TrimRight(attributes, " \t"), "}")
	words, err := split(attributes)
	switch {
	case !closed:
		return step, false, errors.New("the attributes of the fence do not end with }")
	case err != nil:
		return step, false, err
	}
	step.Expect = []int{0}
	given := map[string]bool{}
	for _, w := range words {
		key, value, hasValue := strings.Cut(w.text, "=")
		if given[key] {
			return step, false, fmt.Errorf("%s is given twice", key)
		}
		given[key] = true
		if err := step.set(key, value, hasValue); err != nil {
			return step, false, err
		}
	}
	if step.Name == "" {
		return step, false, errors.New("the attributes of the fence have no step=name")
	}
	return step, true, nil
}

// set sets an attribute of a step. It refuses an empty question: the step would run without being asked about.
func (s *Step) set(key, value string, hasValue bool) error {
	switch isQuestion := key == "confirm" || key == "ask"; {
	case isQuestion && strings.TrimSpace(value) == "":
		return fmt.Errorf("%s has no question, as %s=\"Is that meant?\"", key, key)
	case key == "check" && hasValue:
		return errors.New("check has no value")
	}
	switch key {
	case "step":
		s.Name = value
		if !isName(value) {
			return fmt.Errorf("%s is no name of a step: small letters, digits and '-'", human.Quote(value))
		}
	case "check":
		s.Check = true
	case "confirm":
		s.Confirm = value
	case "ask":
		s.Ask = value
	case "expect":
		return s.setExpect(value)
	default:
		return fmt.Errorf("a step has no attribute %s; there are step, expect, check, confirm and ask", human.Quote(key))
	}
	return nil
}

func (s *Step) setExpect(value string) error {
	s.Expect = nil
	for code := range strings.FieldsSeq(value) {
		n, err := strconv.ParseUint(code, 10, 8)
		if err != nil {
			return fmt.Errorf("expect: %s is no exit code", human.Quote(code))
		}
		s.Expect = append(s.Expect, int(n))
	}
	if len(s.Expect) == 0 {
		return errors.New("expect names no exit code")
	}
	return nil
}

func (r *reader) readCommand(step *Step, line string) error {
	words, err := split(line)
	if err != nil {
		return err
	}
	if len(words) < 2 || words[0].text != program || !isName(words[1].text) {
		return errors.New("a line of a step is nbs-worker with a verb and its arguments")
	}
	for _, w := range words {
		if w.parameter != "" && r.page.parameter(w.parameter) == nil {
			return fmt.Errorf("$%s is not declared before the first section", w.parameter)
		}
	}
	step.Commands = append(step.Commands, Command{Line: r.line, words: words[1:]})
	return nil
}

func (r *reader) add(step Step) error {
	switch {
	case len(step.Commands) == 0:
		return fmt.Errorf("step %s has no command", step.Name)
	case slices.ContainsFunc(r.page.Steps, func(s Step) bool { return s.Name == step.Name }):
		return fmt.Errorf("there are two steps %s", step.Name)
	}
	r.page.Steps = append(r.page.Steps, step)
	return nil
}
