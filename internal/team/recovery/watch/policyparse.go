package watch

import (
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"go.yaml.in/yaml/v4"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/human"
	"nbs-worker/internal/platform/notify"
	"nbs-worker/internal/platform/strictyaml"
	"nbs-worker/internal/team/triage"
)

// parse parses a policy; what it does not set stays as before. Errors: BadInput, which lists all mistakes, each with its
// place.
func parse(name string, before Policy, text []byte) (Policy, error) {
	p := &policyParser{policy: before}
	err := strictyaml.Read("policy", name, text, func(r *strictyaml.Reader, root *yaml.Node) {
		p.Reader = r
		p.read(root)
	})
	if err != nil {
		return Policy{}, err
	}
	return p.policy, nil
}

type policyParser struct {
	*strictyaml.Reader

	policy Policy
}

func (p *policyParser) read(root *yaml.Node) {
	has := p.given(root, "the policy", "agents", "except", "max-level", "every", "patience", "repairs", "context", "notify")
	if node := has["agents"]; node != nil {
		p.policy.Agents = p.handles(node, "agents")
	}
	if node := has["except"]; node != nil {
		p.policy.Except = p.handles(node, "except")
	}
	if node := has["max-level"]; node != nil {
		p.policy.MaxLevel = p.level(node)
	}
	if node := has["every"]; node != nil {
		p.policy.Every = p.Duration(node, time.Second)
	}
	if node := has["patience"]; node != nil {
		p.policy.Patience = p.Duration(node, time.Second)
	}
	if node := has["repairs"]; node != nil {
		repairs := p.given(node, "repairs", "per-hour", "per-agent")
		p.count(&p.policy.PerHour, repairs["per-hour"])
		p.count(&p.policy.PerAgent, repairs["per-agent"])
	}
	if node := has["context"]; node != nil {
		p.context(node)
	}
	if node := has["notify"]; node != nil {
		p.notify(node)
	}
}

// given returns the fields of a mapping that have a value.
func (p *policyParser) given(node *yaml.Node, what string, known ...string) map[string]*yaml.Node {
	has := p.Fields(node, what, known...)
	for name, value := range has {
		if value.Tag == "!!null" {
			delete(has, name)
		}
	}
	return has
}

func (p *policyParser) handles(node *yaml.Node, what string) (handles []agent.Handle) {
	if node.Kind != yaml.SequenceNode {
		p.Wrong(node, "%s: it must be a list of handles", what)
		return nil
	}
	for i, word := range p.Texts(node) {
		handle, err := agent.ParseHandle(word)
		if err != nil && word != "" {
			p.Wrong(node.Content[i], "%s: %v", what, err)
		}
		handles = append(handles, handle)
	}
	return handles
}

func (p *policyParser) level(node *yaml.Node) triage.Level {
	level, err := strconv.Atoi(node.Value)
	if err != nil || level < 0 || level > int(triage.LevelFresh) {
		p.Wrong(node, "%s is no level: it must be 0 (only tell) to %d (a new conversation)", human.Quote(node.Value), triage.LevelFresh)
	}
	return triage.Level(level)
}

// count reads a number of times; nil: it is not given.
func (p *policyParser) count(to *int, node *yaml.Node) {
	if node == nil {
		return
	}
	count, err := strconv.Atoi(node.Value)
	if err != nil || count < 1 {
		p.Wrong(node, "%s is no number of times, 1 or more", human.Quote(node.Value))
		return
	}
	*to = count
}

const never = "never"

func (p *policyParser) context(node *yaml.Node) {
	has := p.given(node, "context", "bands", "compact")
	if node := has["bands"]; node != nil {
		bands, err := agent.ParseBands(node.Value)
		if err != nil {
			p.Wrong(node, "bands: %v", err)
		}
		p.policy.Bands = bands
	}
	if node := has["compact"]; node != nil {
		p.policy.Compact = strictyaml.OneOf(p.Reader, node, "compact", never, agent.Low, agent.Critical)
		if p.policy.Compact == never {
			p.policy.Compact = ""
		}
	}
}

func (p *policyParser) notify(node *yaml.Node) {
	const usual, atMost = 10 * time.Second, 30
	n := &Notify{Program: notify.Program{Limit: usual}, Of: Kinds, PerHour: atMost}
	has := p.given(node, "notify", "command", "on", "timeout", "per-hour")
	if at := has["command"]; at != nil {
		n.Program.Argv = p.argv(at)
	} else {
		p.Wrong(node, "notify: it needs a command")
	}
	if node := has["on"]; node != nil {
		n.Of = p.kinds(node)
	}
	if node := has["timeout"]; node != nil {
		n.Program.Limit = p.Duration(node, time.Second)
	}
	p.count(&n.PerHour, has["per-hour"])
	p.policy.Notify = n
}

func (p *policyParser) argv(node *yaml.Node) []string {
	argv, legal := []string(nil), node.Kind == yaml.SequenceNode && len(node.Content) > 0 && filepath.IsAbs(node.Content[0].Value)
	if legal {
		for _, item := range node.Content { // an argument may be empty
			legal = legal && item.Kind == yaml.ScalarNode && item.Tag != "!!null" && item.Tag != "!!binary"
			argv = append(argv, item.Value)
		}
	}
	if !legal {
		p.Wrong(node, "command: it must be a list: the absolute path of a program, and its arguments; no shell reads it")
	}
	return argv
}

func (p *policyParser) kinds(node *yaml.Node) (kinds []Kind) {
	if node.Kind != yaml.SequenceNode {
		p.Wrong(node, "on: it must be a list of kinds")
		return nil
	}
	for _, item := range node.Content {
		kind := Kind(item.Value)
		if now, is := earlier[kind]; is {
			kind = now
		} else if !slices.Contains(Kinds, kind) {
			kind = strictyaml.OneOf(p.Reader, item, "on", Kinds...)
		}
		kinds = append(kinds, kind)
	}
	return kinds
}
