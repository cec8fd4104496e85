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
	"nbs-worker/internal/store/conversations"
)

var entryName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$`) })

var chat = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(telegram:-?[1-9][0-9]{0,18}(/[1-9][0-9]{0,18})?|matrix:![^\s/]+(/\$\S+)?)$`)
})

func (p *parser) entry(name, node *yaml.Node) {
	e := &Entry{Name: name.Value, Line: name.Line, Missed: MissedSkip, Overlap: OverlapSkip}
	if !entryName().MatchString(e.Name) {
		p.wrong(name, "%s is no name of a schedule: it must be 1 to 64 letters, digits, '_' or '-', the first a letter or digit", human.Quote(e.Name))
	}
	p.file.Entries = append(p.file.Entries, e)
	has := p.fields(node, e.Name, "cron", "every", "zone", "prompt", "prompt_file", "command", "system_prompt", "model", "missed", "overlap", "deliver_to", "turn_timeout", "enrich", "permission_mode", "allowed_tools", "on_denied", "send")
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

// times reads the times of an entry.
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
			p.wrong(expression, "%s: cron %s: %v", e.Name, human.Quote(expression.Value), err)
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

// turn reads the turn of an entry.
func (p *parser) turn(e *Entry, name *yaml.Node, has map[string]*yaml.Node) {
	prompt, file, command := has["prompt"], has["prompt_file"], has["command"]
	switch {
	case prompt != nil && file != nil:
		p.wrong(file, "%s: prompt and prompt_file exclude each other", e.Name)
	case command != nil && (prompt != nil || file != nil):
		p.wrong(command, "%s: command is in place of a prompt", e.Name)
	case command != nil:
		e.Prompt, e.Command = strings.TrimSpace(p.text(command)), true
		if err := claude.CheckCommand(e.Prompt); err != nil {
			p.wrong(command, "%s: %v", e.Name, err)
		}
	case prompt != nil:
		if e.Prompt = p.text(prompt); strings.TrimSpace(e.Prompt) == "" {
			p.wrong(prompt, "%s: the prompt is empty", e.Name)
		}
	case file != nil:
		e.PromptFile = filepath.Clean(p.text(file))
		if file.Value == "" || e.PromptFile == "." || !filepath.IsLocal(e.PromptFile) || !human.IsLegible(e.PromptFile) {
			p.wrong(file, "%s: prompt_file %s must be a path below the project root", e.Name, human.Quote(file.Value))
		}
	default:
		p.wrong(name, "%s: it is not said what; say prompt: \"...\", prompt_file: PATH, command: /NAME or send: {to: HANDLE, text: \"...\"}", e.Name)
	}
	if node := has["system_prompt"]; node != nil {
		e.SystemPrompt = p.text(node)
	}
	if node := has["model"]; node != nil {
		model, err := agent.ChooseModel(p.text(node))
		if err != nil {
			p.wrong(node, "%s: %v", e.Name, err)
		}
		e.Model = model
	}
	if node := has["turn_timeout"]; node != nil {
		e.Silence = p.silence(node)
	}
	p.rights(e, has)
	if node := has["enrich"]; node != nil {
		e.Enrich = p.yes(node, "enrich")
	}
	if node := has["deliver_to"]; node != nil {
		if e.DeliverTo = p.text(node); !chat().MatchString(e.DeliverTo) {
			p.wrong(node, "%s: deliver_to %s is not a chat, such as telegram:1234", e.Name, human.Quote(e.DeliverTo))
		}
	}
}

// silence reads how long claude may be silent: 0 is for ever.
func (p *parser) silence(node *yaml.Node) time.Duration {
	if node.Value == "0" {
		return conversations.Unlimited
	}
	return p.duration(node, time.Second)
}

// send reads a message to an agent.
func (p *parser) send(e *Entry, has map[string]*yaml.Node) {
	for _, field := range []string{"prompt", "prompt_file", "command", "system_prompt", "model", "deliver_to", "turn_timeout", "enrich", "permission_mode", "allowed_tools", "on_denied"} {
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
