// Schemagen writes the JSON Schema of what --json prints, from the types of package wire:
//
//	go run ./internal/app/wire/schemagen internal/app/wire/schema.json
//
// It is a separate program so that nbs-worker does not contain the reflector.
package main

import (
	"encoding/json"
	"fmt"
	"go/build"
	"maps"
	"os"
	"reflect"
	"slices"
	"strings"

	"github.com/invopop/jsonschema"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/app/wire"
	"nbs-worker/internal/team/wait"
)

// printed describes what a verb prints with --json.
type printed struct {
	verb    string
	one     []any // any of these
	several bool  // an array of them, for one handle too
	stream  bool  // one object on each line
	errors  bool  // an error may stand in the array for what could not be read
}

var verbs = []printed{
	{verb: "spawn", one: []any{wire.Started{}, wire.Plan{}}},
	{verb: "fork", one: []any{wire.Started{}, wire.Plan{}}},
	{verb: "resume", one: []any{wire.Started{}, wire.Plan{}}, several: true},
	{verb: "stop", one: []any{wire.Ended{}}, several: true},
	{verb: "dismiss", one: []any{wire.Ended{}}, several: true},
	{verb: "worktree", one: []any{[]wire.AgentWorktree{}, wire.RestoredWorktree{}}},
	{verb: "send", one: []any{wire.Receipt{}}, several: true},
	{verb: "outbox", one: []any{[]wire.Kept{}, wire.Kept{}, wire.Receipt{}}},
	{verb: "requests", one: []any{[]wire.Request{}}},
	{verb: "approve", one: []any{wire.Answered{}}},
	{verb: "deny", one: []any{wire.Answered{}}},
	{verb: "answer", one: []any{wire.Answered{}}},
	{verb: "interrupt", one: []any{wire.Interruption{}}, several: true},
	{verb: "compact", one: []any{wire.Compaction{}}},
	{verb: "set", one: []any{wire.Set{}}},
	{verb: "rename", one: []any{wire.Renamed{}}},
	{verb: "move", one: []any{wire.Moved{}, wire.Stayed{}}},
	{verb: "reset", one: []any{wire.Reset{}}, several: true},
	{verb: "up", one: []any{wire.TeamStep{}}, several: true},
	{verb: "down", one: []any{wire.TeamStep{}}, several: true},
	{verb: "restart", one: []any{wire.TeamStep{}}, several: true},
	{verb: "diff", one: []any{[]wire.TeamDiff{}}},
	{verb: "session", one: []any{wire.Session{}}, several: true},
	{verb: "wait", one: []any{wire.Waited{}}, several: true},
	{verb: "ask", one: []any{wire.Answer{}, wire.AnswerPart{}}, stream: true},
	{verb: "conversation", one: []any{[]wire.Conversation{}, wire.Conversation{}, []wire.OpenTurn{}, wire.Answer{}, []wire.Answer{}, wire.Said{}}},
	{verb: "list", one: []any{[]wire.Agent{}}, errors: true},
	{verb: "list-watch", one: []any{wire.Agent{}, wire.Dismissed{}}, stream: true},
	{verb: "next", one: []any{wire.Agent{}}},
	{verb: "project", one: []any{[]wire.Project{}}},
	{verb: "host", one: []any{[]wire.Host{}, []wire.HostCheckup{}}},
	{verb: "recover", one: []any{[]wire.Recovered{}}},
	{verb: "triage", one: []any{[]wire.Assessment{}}},
	{verb: "adopt", one: []any{wire.Adopted{}, []wire.Unrecorded{}}},
	{verb: "watch", one: []any{wire.WatchAction{}}, stream: true},
	{verb: "notify", one: []any{wire.Notice{}}},
	{verb: "pause", one: []any{wire.Pause{}}},
	{verb: "unpause", one: []any{wire.Pause{}}},
	{verb: "screen", one: []any{wire.Screen{}}},
	{verb: "changes", one: []any{wire.Changes{}}},
	{verb: "doctor", one: []any{wire.Checkup{}}},
	{verb: "export", one: []any{[]wire.Unit{}}},
	{verb: "runbook", one: []any{[]wire.Runbook{}, wire.Runbook{}, wire.RunbookRun{}}},
	{verb: "schedule", one: []any{[]wire.Schedule{}, []wire.ScheduledRun{}}},
	{verb: "memory", one: []any{
		[]wire.Observation{}, wire.Observation{}, wire.MemoryStatus{}, wire.MemoryCheck{}, wire.Forgotten{}, wire.Written{}, wire.Imported{}, wire.Worked{}, wire.Briefing{}, []wire.Set{}, []wire.Failure{},
	}},
	{verb: "hosts", one: []any{wire.AtHosts{}}},
	{verb: "skill", one: []any{wire.SkillPage{}, wire.SkillFile{}, []wire.SkillFile{}}},
	{verb: "version", one: []any{wire.Version{}}},
	{verb: "logs", one: []any{wire.Said{}}, stream: true},
	{verb: "cost", one: []any{wire.Costs{}}},
	{verb: "search", one: []any{wire.Found{}}, stream: true},
	{verb: "events", one: []any{wire.Event{}, wire.Verification{}}, stream: true},
	{verb: "stderr", one: []any{wire.Failure{}, wire.Note{}}, stream: true},
}

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: schemagen FILE")
		os.Exit(4)
	}
	if err := generate(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "schemagen:", err)
		os.Exit(1)
	}
}

func generate(path string) error {
	s, err := newSchema()
	if err != nil {
		return err
	}
	for _, p := range verbs {
		s.add(p)
	}
	text, err := json.MarshalIndent(s.root, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(path, append(text, '\n'), 0o644) //nolint:gosec // a source file
}

type schema struct {
	root      *jsonschema.Schema
	reflector jsonschema.Reflector
}

func newSchema() (*schema, error) {
	source, err := build.Import("nbs-worker/internal/app/wire", ".", build.FindOnly)
	if err != nil {
		return nil, err
	}
	s := &schema{
		// A later version may print more.
		reflector: jsonschema.Reflector{Anonymous: true, AllowAdditionalProperties: true},
		root: &jsonschema.Schema{
			Version: jsonschema.Version, Title: "nbs-worker --json", Definitions: jsonschema.Definitions{},
			Description: "What the verbs print with --json, by the name of the verb. Times are RFC 3339 in UTC. A value that is null or absent is unknown.",
		},
	}
	if err := os.Chdir(source.Dir); err != nil {
		return nil, err
	}
	return s, s.reflector.AddGoComments("nbs-worker/internal/app/wire", ".", jsonschema.WithFullComment())
}

// add defines what a verb prints.
func (s *schema) add(p printed) {
	verb := &jsonschema.Schema{}
	var some []*jsonschema.Schema
	arrays := 0
	for _, value := range p.one {
		if reflect.TypeOf(value).Kind() == reflect.Slice {
			arrays++
		}
		some = append(some, s.of(reflect.TypeOf(value)))
	}
	verb.AnyOf = some
	switch {
	case p.several:
		verb.Description = "an array, also for one handle; if the verb failed for an agent, its element is the error"
		verb.AnyOf = []*jsonschema.Schema{s.orErrors(some...)}
	case p.errors:
		verb.Description = "an array"
		verb.AnyOf = []*jsonschema.Schema{s.orErrors(some[0].Items)}
	case p.stream:
		verb.Description = "one object on each line"
	case arrays == len(p.one):
		verb.Description = "an array"
	case arrays > 0:
		verb.Description = "an array if the verb lists, otherwise one object"
	default:
		verb.Description = "one object"
	}
	s.root.Definitions[p.verb] = verb
}

// orErrors returns the schema of an array whose elements are any of some, or errors.
func (s *schema) orErrors(some ...*jsonschema.Schema) *jsonschema.Schema {
	items := &jsonschema.Schema{AnyOf: slices.Concat(some, []*jsonschema.Schema{s.of(reflect.TypeFor[wire.Failure]())})}
	return &jsonschema.Schema{Type: "array", Items: items}
}

// of returns the schema of a type, and adds the types in it to the definitions.
func (s *schema) of(t reflect.Type) *jsonschema.Schema {
	if t.Kind() == reflect.Slice {
		return &jsonschema.Schema{Type: "array", Items: s.of(t.Elem())}
	}
	maps.Copy(s.root.Definitions, s.reflector.ReflectFromType(t).Definitions)
	s.complete(t, map[reflect.Type]bool{})
	return &jsonschema.Schema{Ref: "#/$defs/" + t.Name()}
}

// complete adds to the fields of a type what Go's types do not express: which fields may be null, and which words a
// state can be.
func (s *schema) complete(t reflect.Type, seen map[reflect.Type]bool) {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct || t.PkgPath() != reflect.TypeFor[wire.Agent]().PkgPath() || seen[t] {
		return
	}
	seen[t] = true
	definition := s.root.Definitions[t.Name()]
	for _, field := range reflect.VisibleFields(t) {
		name, options, _ := strings.Cut(field.Tag.Get("json"), ",")
		if name == "" {
			continue
		}
		s.complete(field.Type, seen)
		property, _ := definition.Properties.Get(name)
		if field.Type.Kind() == reflect.Pointer && options != "omitempty" && property.AnyOf == nil {
			described := property.Description
			property.Description = ""
			definition.Properties.Set(name, &jsonschema.Schema{Description: described, AnyOf: []*jsonschema.Schema{property, {Type: "null"}}})
		}
		if _, ours := t.FieldByName("Cause"); name == "state" && ours || name == "was" {
			property.Enum = words()
		}
	}
}

// words are the states of agents, for the fields beside a cause.
func words() []any {
	var all []any
	for _, word := range append(agent.StateWords(), string(wait.Dismissed)) {
		all = append(all, word)
	}
	return all
}
