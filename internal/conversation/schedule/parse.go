package schedule

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"go.yaml.in/yaml/v4"

	"nbs-worker/internal/agent"
)

// SealKind is the kind by which the file is vouched for.
const SealKind = "schedules"

// Parse reads the file, which is named for messages. Errors: BadInput, which tells of all that is
// wrong the line and what belongs there.
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
		all = agent.Count(len(lines), "mistake") + "\n" + all
	}
	return nil, agent.Errorf(agent.BadInput, "schedules %s, %s", agent.Quote(name), all).
		Hint("what it may say: nbs-worker schedule --help")
}

// parser collects what is wrong.
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
		return nil // nothing is to run
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
			p.wrong(name, "there is a schedule %s already, in line %d", agent.Quote(name.Value), line)
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
			p.wrong(node, "reset_at: %s is no time of day, such as \"04:00\"", agent.Quote(r.Clock))
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
			if key == "" || strings.ContainsAny(key, " \t\n") || !agent.IsLegible(key) || strings.Contains(strings.TrimSuffix(key, "*"), "*") {
				p.wrong(item, "keys: %s is no conversation, nor the beginning of some with * at its end", agent.Quote(key))
			}
			r.Keys = append(r.Keys, key)
		}
	}
}

var entryName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$`) })

var chat = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^telegram:-?[1-9][0-9]{0,18}$`) })

func (p *parser) entry(name, node *yaml.Node) {
	e := &Entry{Name: name.Value, Line: name.Line, Missed: MissedSkip, Overlap: OverlapSkip}
	if !entryName().MatchString(e.Name) {
		p.wrong(name, "%s is no name of a schedule: it must be 1 to 64 letters, digits, '_' or '-', the first a letter or digit", agent.Quote(e.Name))
	}
	p.file.Entries = append(p.file.Entries, e)
	has := p.fields(node, e.Name, "cron", "every", "zone", "prompt", "prompt_file", "system_prompt", "model", "missed", "overlap", "deliver_to", "send")
	if has == nil {
		return
	}
	p.times(e, name, has)
	if node := has["missed"]; node != nil {
		e.Missed = oneOf(p, node, "missed", MissedSkip, MissedOnce)
	}
	if node := has["overlap"]; node != nil {
		e.Overlap = oneOf(p, node, "overlap", OverlapSkip, OverlapQueue)
	}
	if has["send"] != nil {
		p.send(e, has)
		return
	}
	p.turn(e, name, has)
}

// times reads when an entry runs.
func (p *parser) times(e *Entry, name *yaml.Node, has map[string]*yaml.Node) {
	expression, every, zone := has["cron"], has["every"], p.zone
	if node := has["zone"]; node != nil {
		zone = p.location(node)
		if expression == nil {
			p.wrong(node, "%s: an interval is the same in all zones; zone belongs to cron", e.Name)
		}
	}
	switch {
	case expression != nil && every != nil:
		p.wrong(every, "%s: cron and every exclude each other", e.Name)
	case expression != nil:
		times, err := cronTimes(p.text(expression), zone)
		if err != nil {
			p.wrong(expression, "%s: cron %s: %v", e.Name, agent.Quote(expression.Value), err)
		}
		e.Times = times
	case every != nil:
		if interval := p.duration(every, time.Second); interval > 0 {
			e.Times = everyTimes(interval)
		}
	default:
		p.wrong(name, "%s: it is not said when; say cron: \"30 7 * * 1-5\" or every: 15m", e.Name)
	}
}

// turn reads what Claude is asked.
func (p *parser) turn(e *Entry, name *yaml.Node, has map[string]*yaml.Node) {
	prompt, file := has["prompt"], has["prompt_file"]
	switch {
	case prompt != nil && file != nil:
		p.wrong(file, "%s: prompt and prompt_file exclude each other", e.Name)
	case prompt != nil:
		if e.Prompt = p.text(prompt); strings.TrimSpace(e.Prompt) == "" {
			p.wrong(prompt, "%s: the prompt is empty", e.Name)
		}
	case file != nil:
		e.PromptFile = filepath.Clean(p.text(file))
		if file.Value == "" || e.PromptFile == "." || !filepath.IsLocal(e.PromptFile) || !agent.IsLegible(e.PromptFile) {
			p.wrong(file, "%s: prompt_file %s must be a path below the project root", e.Name, agent.Quote(file.Value))
		}
	default:
		p.wrong(name, "%s: it is not said what; say prompt: \"...\", prompt_file: PATH or send: {to: HANDLE, text: \"...\"}", e.Name)
	}
	if node := has["system_prompt"]; node != nil {
		e.SystemPrompt = p.text(node)
	}
	if node := has["model"]; node != nil {
		model, err := agent.ParseModel(p.text(node))
		if err != nil {
			p.wrong(node, "%s: %v", e.Name, err)
		}
		e.Model = model
	}
	if node := has["deliver_to"]; node != nil {
		if e.DeliverTo = p.text(node); !chat().MatchString(e.DeliverTo) {
			p.wrong(node, "%s: deliver_to %s is no chat, such as telegram:1234", e.Name, agent.Quote(e.DeliverTo))
		}
	}
}

// send reads a message to an agent.
func (p *parser) send(e *Entry, has map[string]*yaml.Node) {
	for _, field := range []string{"prompt", "prompt_file", "system_prompt", "model", "deliver_to"} {
		if node := has[field]; node != nil {
			p.wrong(node, "%s: %s belongs to a turn; a message to an agent has none", e.Name, field)
		}
	}
	node := has["send"]
	parts := p.fields(node, e.Name+": send", "to", "text")
	if parts == nil {
		return
	}
	if parts["to"] == nil || parts["text"] == nil {
		p.wrong(node, "%s: send needs an agent and a text: {to: HANDLE, text: \"...\"}", e.Name)
		return
	}
	to, err := agent.ParseHandle(p.text(parts["to"]))
	if err != nil {
		p.wrong(parts["to"], "%s: %v", e.Name, err)
	}
	e.Send = &Send{To: to, Text: p.text(parts["text"])}
	if strings.TrimSpace(e.Send.Text) == "" {
		p.wrong(parts["text"], "%s: the text is empty", e.Name)
	}
}

// location reads a zone.
func (p *parser) location(node *yaml.Node) *time.Location {
	name := p.text(node)
	zone, err := time.LoadLocation(name)
	if err != nil || name == "" || name == "Local" {
		p.wrong(node, "zone: %s is no time zone, such as Europe/Berlin or UTC", agent.Quote(name))
		return time.UTC
	}
	return zone
}

// duration reads a time of whole seconds; 0 for none.
func (p *parser) duration(node *yaml.Node, least time.Duration) time.Duration {
	text := p.text(node)
	if text == "" {
		return 0
	}
	parsed, err := time.ParseDuration(text)
	if err != nil || parsed < least || parsed%time.Second != 0 {
		p.wrong(node, "%s is no time of whole seconds, %s or more, such as 90s, 15m or 12h", agent.Quote(text), strings.TrimSuffix(least.String(), "0s"))
		return 0
	}
	return parsed
}

// oneOf reads one of some words.
func oneOf[Word ~string](p *parser, node *yaml.Node, field string, known ...Word) Word {
	word := Word(p.text(node))
	if !slices.Contains(known, word) {
		p.wrong(node, "%s: %s must be one of %s and %s", field, agent.Quote(string(word)), known[0], known[1])
	}
	return word
}

// text reads a text; a number or a word like yes is one too.
func (p *parser) text(node *yaml.Node) string {
	if node.Kind != yaml.ScalarNode || node.Tag == "!!null" || node.Tag == "!!binary" || node.Value == "" {
		p.wrong(node, "a text belongs here")
		return ""
	}
	return node.Value
}

// fields are those of a mapping by their names, of which all are known; nil for no mapping.
func (p *parser) fields(node *yaml.Node, what string, known ...string) map[string]*yaml.Node {
	if node.Kind != yaml.MappingNode {
		p.wrong(node, "%s: fields belong here: %s", what, strings.Join(known, ", "))
		return nil
	}
	has := map[string]*yaml.Node{}
	for name, value := range p.pairs(node, what) {
		switch {
		case !slices.Contains(known, name.Value):
			p.wrong(name, "%s: there is no field %s; there are %s", what, agent.Quote(name.Value), strings.Join(known, ", "))
		case has[name.Value] != nil:
			p.wrong(name, "%s: %s is there twice", what, name.Value)
		default:
			has[name.Value] = value
		}
	}
	return has
}

// pairs are the names and values of a mapping, in the order of the file.
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

// lineOf is where the text is no YAML.
func lineOf(err error) int {
	if one, ok := errors.AsType[*yaml.LoadError](err); ok {
		return max(1, one.Mark.Line)
	}
	return 1
}

// what is wrong with a text that is no YAML. An expression that begins with * is not one where it
// does not stand in quotes.
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
