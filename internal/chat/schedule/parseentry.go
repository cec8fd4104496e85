package schedule

import (
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"time"

	"go.yaml.in/yaml/v4"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/claude"
	"nbs-worker/internal/human"
	"nbs-worker/internal/platform/strictyaml"
	"nbs-worker/internal/store/conversations"
)

var entryName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$`) })

var chat = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(telegram:-?[1-9][0-9]{0,18}(/[1-9][0-9]{0,18})?|matrix:![^\s/]+(/\$\S+)?)$`)
})

func (p *parser) entry(name, node *yaml.Node) {
	e := &Entry{Name: name.Value, Line: name.Line, Missed: MissedSkip, Overlap: OverlapSkip}
	if !entryName().MatchString(e.Name) {
		p.Wrong(name, "%s is no name of a schedule: it must be 1 to 64 letters, digits, '_' or '-', the first a letter or digit", human.Quote(e.Name))
	}
	p.file.Entries = append(p.file.Entries, e)
	has := p.Fields(node, e.Name, "cron", "every", "zone", "prompt", "prompt_file", "command", "system_prompt", "model", "missed", "overlap", "deliver_to", "turn_timeout", "enrich", "permission_mode", "allowed_tools", "on_denied", "send")
	if has == nil {
		return
	}
	p.times(e, name, has)
	if node := has["missed"]; node != nil {
		e.Missed = strictyaml.OneOf(p.Reader, node, "missed", MissedSkip, MissedOnce)
	}
	if node := has["overlap"]; node != nil {
		e.Overlap = strictyaml.OneOf(p.Reader, node, "overlap", OverlapSkip, OverlapQueue)
	}
	if has["send"] != nil {
		p.send(e, has)
		return
	}
	p.turn(e, name, has)
}

// times reads the times of an entry.
func (p *parser) times(e *Entry, name *yaml.Node, has map[string]*yaml.Node) {
	expression, every, zone := has["cron"], has["every"], p.zone
	if node := has["zone"]; node != nil {
		zone = p.location(node)
		if expression == nil {
			p.Wrong(node, "%s: an interval is the same in all zones; zone belongs to cron", e.Name)
		}
	}
	switch {
	case expression != nil && every != nil:
		p.Wrong(every, "%s: cron and every exclude each other", e.Name)
	case expression != nil:
		times, err := cronTimes(p.Text(expression), zone)
		if err != nil {
			p.Wrong(expression, "%s: cron %s: %v", e.Name, human.Quote(expression.Value), err)
		}
		e.Times = times
	case every != nil:
		if interval := p.Duration(every, time.Second); interval > 0 {
			e.Times = everyTimes(interval)
		}
	default:
		p.Wrong(name, "%s: it is not said when; say cron: \"30 7 * * 1-5\" or every: 15m", e.Name)
	}
}

// turn reads the turn of an entry.
func (p *parser) turn(e *Entry, name *yaml.Node, has map[string]*yaml.Node) {
	prompt, file, command := has["prompt"], has["prompt_file"], has["command"]
	switch {
	case prompt != nil && file != nil:
		p.Wrong(file, "%s: prompt and prompt_file exclude each other", e.Name)
	case command != nil && (prompt != nil || file != nil):
		p.Wrong(command, "%s: command is in place of a prompt", e.Name)
	case command != nil:
		e.Prompt, e.Command = strings.TrimSpace(p.Text(command)), true
		if err := claude.CheckCommand(e.Prompt); err != nil {
			p.Wrong(command, "%s: %v", e.Name, err)
		}
	case prompt != nil:
		if e.Prompt = p.Text(prompt); strings.TrimSpace(e.Prompt) == "" {
			p.Wrong(prompt, "%s: the prompt is empty", e.Name)
		}
	case file != nil:
		e.PromptFile = filepath.Clean(p.Text(file))
		if file.Value == "" || e.PromptFile == "." || !filepath.IsLocal(e.PromptFile) || !human.IsLegible(e.PromptFile) {
			p.Wrong(file, "%s: prompt_file %s must be a path below the project root", e.Name, human.Quote(file.Value))
		}
	default:
		p.Wrong(name, "%s: it is not said what; say prompt: \"...\", prompt_file: PATH, command: /NAME or send: {to: HANDLE, text: \"...\"}", e.Name)
	}
	if node := has["system_prompt"]; node != nil {
		e.SystemPrompt = p.Text(node)
	}
	if node := has["model"]; node != nil {
		model, err := agent.ChooseModel(p.Text(node))
		if err != nil {
			p.Wrong(node, "%s: %v", e.Name, err)
		}
		e.Model = model
	}
	if node := has["turn_timeout"]; node != nil {
		e.Silence = p.silence(node)
	}
	p.rights(e, has)
	if node := has["enrich"]; node != nil {
		e.Enrich = p.Yes(node, "enrich")
	}
	if node := has["deliver_to"]; node != nil {
		if e.DeliverTo = p.Text(node); !chat().MatchString(e.DeliverTo) {
			p.Wrong(node, "%s: deliver_to %s is not a chat, such as telegram:1234", e.Name, human.Quote(e.DeliverTo))
		}
	}
}

// silence reads how long claude may be silent: 0 is for ever.
func (p *parser) silence(node *yaml.Node) time.Duration {
	if node.Value == "0" {
		return conversations.Unlimited
	}
	return p.Duration(node, time.Second)
}

// send reads a message to an agent.
func (p *parser) send(e *Entry, has map[string]*yaml.Node) {
	for _, field := range []string{"prompt", "prompt_file", "command", "system_prompt", "model", "deliver_to", "turn_timeout", "enrich", "permission_mode", "allowed_tools", "on_denied"} {
		if node := has[field]; node != nil {
			p.Wrong(node, "%s: %s belongs to a turn; a message to an agent has none", e.Name, field)
		}
	}
	node := has["send"]
	parts := p.Fields(node, e.Name+": send", "to", "text")
	if parts == nil {
		return
	}
	if parts["to"] == nil || parts["text"] == nil {
		p.Wrong(node, "%s: send needs an agent and a text: {to: HANDLE, text: \"...\"}", e.Name)
		return
	}
	to, err := agent.ParseHandle(p.Text(parts["to"]))
	if err != nil {
		p.Wrong(parts["to"], "%s: %v", e.Name, err)
	}
	e.Send = &Send{To: to, Text: p.Text(parts["text"])}
	if strings.TrimSpace(e.Send.Text) == "" {
		p.Wrong(parts["text"], "%s: the text is empty", e.Name)
	}
}
