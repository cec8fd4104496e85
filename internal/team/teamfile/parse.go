package teamfile

import (
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
	"nbs-worker/internal/platform/strictyaml"
)

// Version is the version of the file's form.
const Version = "1"

const agentsLimit = 1000

// Parse parses a team file; name is used in messages. Errors: BadInput, which lists all mistakes, each with its place
// and what is expected there.
func Parse(name string, text []byte) (*File, error) { return parse(name, text, nil) }

// parse is Parse; it also reads the other files that the file names, if there is a function for it.
func parse(name string, text []byte, readFile func(path string) (string, error)) (*File, error) {
	p := &parser{file: &File{}, readFile: readFile}
	err := strictyaml.Read("team file", name, text, func(r *strictyaml.Reader, root *yaml.Node) {
		p.Reader = r
		p.read(root)
	})
	if err == nil && len(p.file.Agents) == 0 {
		err = fail.Errorf(fail.BadInput, "team file %s names no agent", human.Quote(name))
	}
	if err != nil {
		return nil, fail.Errorf(fail.BadInput, "%w", err).Hint("what it may say: nbs-worker help team")
	}
	return p.file, nil
}

// parser reads the file.
type parser struct {
	*strictyaml.Reader

	file  *File
	usual draft // the defaults
	needs []need

	readFile func(path string) (string, error) // nil: the files that the file names are not read
}

// need is a dependency, with its place.
type need struct {
	of agent.Handle
	on *yaml.Node
}

var rootFields = []string{"version", "name", "defaults", "agents", "groups"}

// read reads the whole file.
func (p *parser) read(root *yaml.Node) {
	top := p.Fields(root, "the file", rootFields...)
	if node := top["version"]; node != nil && p.Text(node) != Version {
		p.Wrong(node, "version: this nbs-worker reads version %s, not %s", Version, human.Quote(node.Value))
	}
	if node := top["name"]; node != nil {
		p.file.Name = p.line(node, "name")
	}
	if node := top["defaults"]; node != nil {
		p.defaults(node)
	}
	if node := top["agents"]; node != nil {
		p.agents(node)
	} else if top != nil {
		p.Wrong(root, "the file: agents are missing; for example: agents: {alice: {model: opus}}")
	}
	p.dependencies()
	if node := top["groups"]; node != nil {
		p.groups(node)
	}
}

func (p *parser) agents(node *yaml.Node) {
	seen := map[string]int{}
	for name, entry := range p.Pairs(node, "agents") {
		if len(seen) == agentsLimit {
			p.Wrong(name, "agents: there are more than %d", agentsLimit)
			return
		}
		handle, err := agent.ParseHandle(name.Value)
		if err != nil {
			p.Wrong(name, "agents: %v", err)
			continue
		}
		if line, twice := seen[handle.Key()]; twice {
			p.Wrong(name, "agents: there is an agent %s already, in line %d", handle, line)
			continue
		}
		seen[handle.Key()] = name.Line
		p.agent(handle, entry)
	}
}

// known returns the agent of the file that a node names, or nil, which is noted as a mistake.
func (p *parser) known(node *yaml.Node, what string) *Agent {
	name := p.Text(node)
	if name == "" {
		return nil
	}
	if a := p.file.Agent(agent.Handle(name)); a != nil {
		return a
	}
	handles := agent.Mapped(p.file.Agents, func(a Agent) string { return string(a.Handle) })
	meant := ""
	if near := human.Nearest(name, handles); near != "" {
		meant = "; did you mean " + near + "?"
	}
	p.Wrong(node, "%s: there is no agent %s in the file%s", what, human.Quote(name), meant)
	return nil
}

// dependencies checks that each agent that is depended on is in the file, and that none depends on itself, in a circle
// or directly.
func (p *parser) dependencies() {
	places := map[agent.Handle]map[string]*yaml.Node{} // by the handle, and the key of the other one
	for _, n := range p.needs {
		on := p.known(n.on, string(n.of)+": depends_on")
		if on == nil {
			continue
		}
		of := p.file.Agent(n.of)
		for i := range of.DependsOn {
			if of.DependsOn[i].On.Same(on.Handle) {
				of.DependsOn[i].On = on.Handle
			}
		}
		if places[n.of] == nil {
			places[n.of] = map[string]*yaml.Node{}
		}
		places[n.of][on.Handle.Key()] = n.on
	}
	for _, circle := range p.file.circles() {
		last := circle[len(circle)-1]
		path := strings.Join(agent.Mapped(append(circle, circle[0]), func(h agent.Handle) string { return string(h) }), " -> ")
		p.Wrong(places[last][circle[0].Key()], "%s: depends_on: it is a circle: %s", last, path)
	}
}

// circles returns each circle of dependencies that a walk through the file finds: at least one if there is any. An
// agent depends on the one after it, and the last one on the first.
func (f *File) circles() (found [][]agent.Handle) {
	done := map[agent.Handle]bool{}
	var path []agent.Handle
	var visit func(a *Agent)
	visit = func(a *Agent) {
		if at := slices.Index(path, a.Handle); at >= 0 {
			found = append(found, slices.Clone(path[at:]))
			return
		}
		if done[a.Handle] {
			return
		}
		path = append(path, a.Handle)
		for _, d := range a.DependsOn {
			if on := f.Agent(d.On); on != nil {
				visit(on)
			}
		}
		path, done[a.Handle] = path[:len(path)-1], true
	}
	for i := range f.Agents {
		visit(&f.Agents[i])
	}
	return found
}

func (p *parser) groups(node *yaml.Node) {
	seen := map[string]int{}
	for name, members := range p.Pairs(node, "groups") {
		if _, err := agent.ParseHandle(name.Value); err != nil {
			p.Wrong(name, "groups: %s is no name of a group: use 1 to 64 letters, digits, '_' and '-', and begin with a letter or digit", human.Quote(name.Value))
			continue
		}
		if line, twice := seen[strings.ToLower(name.Value)]; twice {
			p.Wrong(name, "groups: there is a group %s already, in line %d", name.Value, line)
			continue
		}
		seen[strings.ToLower(name.Value)] = name.Line
		p.group(name.Value, members)
	}
}

func (p *parser) group(name string, node *yaml.Node) {
	what := "groups: " + name
	if node.Kind != yaml.SequenceNode || len(node.Content) == 0 {
		p.Wrong(node, "%s: a list of agents belongs here, such as [alice, bob]", what)
		return
	}
	g := Group{Name: name}
	for _, item := range node.Content {
		a := p.known(item, what)
		switch {
		case a == nil:
		case slices.Contains(g.Members, a.Handle):
			p.Wrong(item, "%s: %s is there twice", what, a.Handle)
		default:
			g.Members = append(g.Members, a.Handle)
		}
	}
	p.file.Groups = append(p.file.Groups, g)
}
