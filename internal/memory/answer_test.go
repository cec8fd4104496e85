package memory_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"nbs-worker/internal/fail"
	"nbs-worker/internal/memory"
	"nbs-worker/internal/sim/rig"
)

const whole = `{"observations":[{"type":"fix","title":" The  cache\nwas stale ","narrative":"It is\ncleared now.","facts":["ttl: 60s"],"files":["a/b.go"]},{"type":"open_end","title":"Tests"}]}`

func TestReadAnswer(t *testing.T) {
	t.Parallel()
	want := []memory.Observation{
		{Type: memory.Fix, Title: "The cache was stale", Narrative: "It is\ncleared now.", Facts: []string{"ttl: 60s"}, Files: []string{"a/b.go"}},
		{Type: memory.OpenEnd, Title: "Tests"},
	}
	for _, text := range []string{whole, "\n" + whole + "\n", "```json\n" + whole + "\n```", "```\n" + whole + "```\n"} {
		all, err := memory.ReadAnswer(text)
		rig.Must(t, err)
		rig.Same(t, text, want, all)
	}
	all, err := memory.ReadAnswer(`{"observations":[]}`)
	rig.Check(t, err == nil && len(all) == 0, "nothing observed: %v, %v", all, err)
}

func TestReadAnswerRefusesWhatDoesNotFit(t *testing.T) {
	t.Parallel()
	one := func(members string) string { return `{"observations":[{` + members + `}]}` }
	for text, says := range map[string]string{
		"":                                      "not the JSON object",
		"I noticed nothing.":                    "not the JSON object",
		"[]":                                    "not the JSON object",
		"null":                                  `no "observations"`,
		"{}":                                    `no "observations"`,
		`{"observations":null}`:                 `no "observations"`,
		whole + whole:                           "not the JSON object",
		"Here it is:\n" + whole:                 "not the JSON object",
		"```go\n" + whole + "\n```":             "not the JSON object",
		`{"observations":[],"extra":1}`:         "extra",
		`{"observations":[],"observations":[]}`: "duplicate",
		one(`"type":"poem","title":"x"`):        "observation 1: type",
		one(`"title":"x"`):                      "observation 1: type",
		one(`"type":"fix"`):                     "no title",
		one(`"type":"fix","title":" \n "`):      "no title",
		one(`"type":"fix","title":"a\u001b[2Jb"`):                                                                                      "control character",
		one(`"type":"fix","title":"x","files":["a\nb"]`):                                                                               "control character",
		one(`"type":"fix","title":"x","narrative":"a\u0000b"`):                                                                         "control character",
		one(`"type":"fix","title":7`):                                                                                                  "not the JSON object",
		one(`"type":"fix","title":"x","id":7`):                                                                                         "id",
		one(`"type":"fix","title":"` + strings.Repeat("x", memory.TitleLimit+1) + `"`):                                                 "longer than",
		one(`"type":"fix","title":"x","narrative":"` + strings.Repeat("x", memory.NarrativeLimit+1) + `"`):                             "longer than",
		one(`"type":"fix","title":"x","facts":["` + strings.Repeat("x", memory.FactLimit+1) + `"]`):                                    "longer than",
		one(`"type":"fix","title":"x","facts":[` + strings.Repeat(`"x",`, memory.FactsLimit) + `"x"]`):                                 "more than",
		`{"observations":[` + strings.Repeat(`{"type":"fix","title":"x"},`, memory.ObservationsLimit) + `{"type":"fix","title":"x"}]}`: "more than",
	} {
		all, err := memory.ReadAnswer(text)
		rig.Check(t, err != nil && fail.KindOf(err) == fail.BadInput && all == nil && strings.Contains(err.Error(), says), "%.80s: %v, %v; want %q", text, all, err, says)
	}
}

// The schema that a model is shown is the one that its answer is read by.
func TestAnswerSchemaIsThatOfTheReader(t *testing.T) {
	t.Parallel()
	fits := schema(t)
	rig.Check(t, fits(whole), "the schema refuses what the reader takes")
	for _, text := range []string{`{}`, `{"observations":[{"type":"poem","title":"x"}]}`, `{"observations":[{"type":"fix"}]}`, `{"observations":[],"extra":1}`} {
		rig.Check(t, !fits(text), "the schema takes %s", text)
	}
	for _, kind := range memory.Types() {
		rig.Check(t, fits(`{"observations":[{"type":"`+string(kind)+`","title":"x"}]}`), "the schema lacks the type %s", kind)
	}
	var limits struct {
		Properties struct {
			Observations struct {
				MaxItems int `json:"maxItems"`
				Items    struct {
					Properties map[string]struct {
						MaxLength int `json:"maxLength"`
						MaxItems  int `json:"maxItems"`
						Items     struct {
							MaxLength int `json:"maxLength"`
						} `json:"items"`
					} `json:"properties"`
				} `json:"items"`
			} `json:"observations"`
		} `json:"properties"`
	}
	rig.Must(t, json.Unmarshal([]byte(memory.AnswerSchema), &limits))
	all := limits.Properties.Observations
	rig.Same(t, "the limits of the schema",
		[]int{memory.ObservationsLimit, memory.TitleLimit, memory.NarrativeLimit, memory.FactsLimit, memory.FactLimit, memory.FactsLimit, memory.FactLimit},
		[]int{
			all.MaxItems, all.Items.Properties["title"].MaxLength, all.Items.Properties["narrative"].MaxLength, all.Items.Properties["facts"].MaxItems,
			all.Items.Properties["facts"].Items.MaxLength, all.Items.Properties["files"].MaxItems, all.Items.Properties["files"].Items.MaxLength,
		})
}

func schema(t testing.TB) (fits func(text string) bool) {
	t.Helper()
	parsed, err := jsonschema.UnmarshalJSON(strings.NewReader(memory.AnswerSchema))
	rig.Must(t, err)
	compiler := jsonschema.NewCompiler()
	rig.Must(t, compiler.AddResource("answer.json", parsed))
	compiled, err := compiler.Compile("answer.json")
	rig.Must(t, err)
	return func(text string) bool {
		value, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
		return err == nil && compiled.Validate(value) == nil
	}
}

// Whatever a model answers, what is taken from it can be kept, and reads the same again.
func FuzzReadAnswer(f *testing.F) {
	for _, text := range []string{whole, "```json\n" + whole + "\n```", "", "{}", "null", `{"observations":[{"type":"fix","title":"\ud800","facts":null}]}`, "{\"observations\":[{\"title\":\"\xff\"}]}", "``````", "```\n```"} {
		f.Add(text)
	}
	fits := schema(f)
	f.Fuzz(func(t *testing.T, text string) {
		all, err := memory.ReadAnswer(text)
		if err != nil {
			rig.Check(t, fail.KindOf(err) == fail.BadInput && all == nil, "%q: %v, %v", text, all, err)
			return
		}
		type answered struct {
			Type      memory.Type `json:"type"`
			Title     string      `json:"title"`
			Narrative string      `json:"narrative"`
			Facts     []string    `json:"facts,omitempty"`
			Files     []string    `json:"files,omitempty"`
		}
		list := []answered{}
		for i, o := range all {
			rig.Check(t, o.Validate() == nil, "%q: observation %d is not valid: %v", text, i, o.Validate())
			list = append(list, answered{o.Type, o.Title, o.Narrative, o.Facts, o.Files})
		}
		said, err := json.Marshal(map[string]any{"observations": list})
		rig.Must(t, err)
		rig.Check(t, fits(string(said)), "%q gives what the schema refuses: %s", text, said)
		again, err := memory.ReadAnswer(string(said))
		rig.Check(t, err == nil && len(again) == len(all), "%q: again: %v, %v", text, again, err)
	})
}
