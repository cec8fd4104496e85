package runbook

import (
	"strings"
	"testing"

	"nbs-worker/internal/fail"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

const page = "# Roll it out\n\nBring the new version\nto all.\n\nMore prose, with `code`, a\ttab and \u26a0\ufe0f.\n\n" +
	"- `handle`: the agent,\n  by name\n- `patience=10m`: how long it may take\n\n    nbs-worker runbook run rollout\n\n" +
	"## 1. Look\n\n```sh {step=look expect=\"0 7\" ask='Is it \"well\"?'}\nnbs-worker triage $handle\nnbs-worker logs \"$handle\" -n 5\n```\n\n" +
	"```sh\nrm -rf / | cat\n```\n\n" +
	"## 2. Tell\n\n```sh {step=tell confirm=\"Tell it?\"}\nnbs-worker send $handle 'Read `PLAN.md`; $HOME stays.' --timeout $patience\n```\n\n" +
	"````sh {step=check check}\nnbs-worker wait $handle --for=idle,\"context-below=15%\"\n````\n"

func TestPage(t *testing.T) {
	t.Parallel()
	p, err := Parse("rollout", page)
	if err != nil {
		t.Fatal(err)
	}
	want := &Page{
		Name: "rollout", Title: "Roll it out", Summary: "Bring the new version to all.", Text: page,
		Parameters: []Parameter{{Name: "handle", About: "the agent, by name", Required: true}, {Name: "patience", About: "how long it may take", Default: "10m"}},
		Steps: []Step{
			{Name: "look", Title: "Look", Line: 16, Expect: []int{0, 7}, Ask: `Is it "well"?`, Commands: []Command{{Line: 17}, {Line: 18}}},
			{Name: "tell", Title: "Tell", Line: 27, Expect: []int{0}, Confirm: "Tell it?", Commands: []Command{{Line: 28}}},
			{Name: "check", Title: "Tell", Line: 31, Expect: []int{0}, Check: true, Commands: []Command{{Line: 32}}},
		},
	}
	if diff := cmp.Diff(want, p, cmpopts.IgnoreUnexported(Command{})); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	plan, err := p.Plan(map[string]string{"handle": "a; rm $x"})
	if err != nil {
		t.Fatal(err)
	}
	commands := [][]string{
		{"triage", "a; rm $x"}, {"logs", "a; rm $x", "-n", "5"},
		{"send", "a; rm $x", "Read `PLAN.md`; $HOME stays.", "--timeout", "10m"},
		{"wait", "a; rm $x", "--for=idle,context-below=15%"},
	}
	var got [][]string
	for _, step := range plan.Steps {
		got = append(got, step.Commands...)
	}
	if diff := cmp.Diff(commands, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if text := p.Steps[1].Commands[0].String(); text != "send $handle 'Read `PLAN.md`; $HOME stays.' --timeout $patience" {
		t.Errorf("shown as %s", text)
	}
}

// step is a page with a line as its only step.
func step(line string) string {
	return "# T\n\n- `handle`: it\n\n```sh {step=a}\n" + line + "\n```\n"
}

// What a shell would do with a line, or another reader take for something else, is refused by the
// number of its line.
func TestPageThatIsRefused(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                                     "line 1: the page does not begin with its title",
		"Title\n":                              "line 1: the page does not begin with its title",
		"# T\n":                                "the page has no step",
		"# T\x1b[2J\n":                         "a character that does not show",
		"# T\n\u202e\n":                        "a character that does not show",
		"# T\r\n":                              "a character that does not show",
		"# T\n\n<!--\n```sh {step=a}\n":        "line 3: the page has HTML",
		"# T\n\n  ```sh {step=a}\n":            "line 3: a fence is made of ``` and begins its line",
		"# T\n\n~~~sh {step=a}\n":              "line 3: a fence is made of ```",
		"# T\n\n```sh {step=a}\nnbs-worker x":  "line 3: the fence is not closed",
		"# T\n\n````\n```sh {step=a}\n````\n":  "the page has no step", // it is shown as text
		"# T\n\n```sh` {step=a}\n```\n":        "line 3: a fence has no ` behind it",
		"# T\n\n```sh {step=a\n```\n":          "line 3: the attributes of the fence do not end with }",
		"# T\n\n```sh {step=A}\n```\n":         "line 3: \"A\" is no name of a step",
		"# T\n\n```sh {stop=a}\n```\n":         "line 3: a step has no attribute \"stop\"",
		"# T\n\n```sh {check}\n```\n":          "line 3: the attributes of the fence have no step=name",
		"# T\n\n```sh {step=a expect=x}\n```":  "line 3: expect: \"x\" is no exit code",
		"# T\n\n```sh {step=a expect=\"\"}\n":  "line 3: expect names no exit code",
		"# T\n\n```sh {step=a}\n```\n":         "line 4: step a has no command",
		"# T\n\n- `a b`: x\n":                  "line 3: \"a b\" is no name of a parameter",
		"# T\n\n- `a`\n":                       "line 3: a parameter is declared as",
		"# T\n\n- `a`: x\n- `a=1`: y\n":        "line 4: the parameter a is declared twice",
		"# T\n\n- `a=--all`: x\n":              "line 3: the default of a: \"--all\" would be taken for a flag",
		step("ls"):                             "line 6: a line of a step is nbs-worker with a verb",
		step("nbs-worker"):                     "line 6: a line of a step is nbs-worker with a verb",
		step("nbs-worker $handle"):             "line 6: a line of a step is nbs-worker with a verb",
		step("nbs-worker --root /x list"):      "line 6: a line of a step is nbs-worker with a verb",
		step(""):                               "line 6: a line of a step is nbs-worker with a verb",
		step("nbs-worker list | jq"):           "line 6: there is no shell, and \"|\" is for one",
		step("nbs-worker list >x"):             "line 6: there is no shell, and \">\" is for one",
		step("nbs-worker list; ls"):            "line 6: there is no shell, and \";\" is for one",
		step("nbs-worker list && ls"):          "line 6: there is no shell, and \"&\" is for one",
		step("nbs-worker logs `ls`"):           "line 6: there is no shell, and \"`\" is for one",
		step("nbs-worker logs \"`ls`\""):       "line 6: there is no shell, and \"`\" is for one",
		step("nbs-worker logs\ta"):             "line 6: there is no shell, and \"\\t\" is for one",
		step("nbs-worker logs *"):              "line 6: there is no shell, and \"*\" is for one",
		step("nbs-worker logs ~/x"):            "line 6: there is no shell, and \"~\" is for one",
		step("nbs-worker logs {a,b}"):          "line 6: there is no shell, and \"{\" is for one",
		step("nbs-worker list # all"):          "line 6: there is no shell, and \"#\" is for one",
		step(`nbs-worker logs a\ b`):           "line 6: there is no shell, and \"\\\\\" is for one",
		step("nbs-worker logs $(ls)"):          "line 6: a \"$\" stands for a parameter only as a whole word",
		step("nbs-worker logs x$handle"):       "line 6: a \"$\" stands for a parameter only as a whole word",
		step("nbs-worker logs $handle.x"):      "line 6: a \"$\" stands for a parameter only as a whole word",
		step(`nbs-worker send $handle "a $x"`): "line 6: a \"$\" stands for a parameter only as a whole word",
		step("nbs-worker logs $other"):         "line 6: $other is not declared",
		step("nbs-worker logs 'a"):             "line 6: a ' is not closed",
		"# T\n\n```sh {step=a ask=\"ok?\"}\nnbs-worker list\n```\n":             "line 3: step a asks, and no step follows",
		"# T\n\n" + strings.Repeat("```sh {step=a}\nnbs-worker list\n```\n", 2): "line 8: there are two steps a",
		"# T\n" + strings.Repeat("x\n", pageLimit):                              "larger than",
	} {
		if _, err := Parse("x", text); err == nil || !strings.Contains(err.Error(), want) || fail.KindOf(err) != fail.BadInput {
			t.Errorf("%.80q: %v; want %s", text, err, want)
		}
	}
}

func TestParametersThatAreRefused(t *testing.T) {
	t.Parallel()
	p, err := Parse("rollout", page)
	if err != nil {
		t.Fatal(err)
	}
	for want, set := range map[string]map[string]string{
		"handle is not set: the agent, by name": {"patience": "1m"},
		`no parameter "hande"`:                  {"hande": "a"},
		`"-x" would be taken for a flag`:        {"handle": "-x"},
		"the value is empty":                    {"handle": " "},
		"zero byte":                             {"handle": "a\x00b"},
	} {
		if _, err := p.Plan(set); err == nil || !strings.Contains(err.Error(), want) || fail.KindOf(err) != fail.BadInput {
			t.Errorf("%v: %v; want %s", set, err, want)
		}
	}
}

// A run with other values is another run; a default that is spelled out is none.
func TestKeyOfARun(t *testing.T) {
	t.Parallel()
	p, err := Parse("rollout", page)
	if err != nil {
		t.Fatal(err)
	}
	key := func(set map[string]string) string {
		plan, err := p.Plan(set)
		if err != nil {
			t.Fatal(err)
		}
		return plan.Key()
	}
	one := key(map[string]string{"handle": "a"})
	if same, other := key(map[string]string{"handle": "a", "patience": "10m"}), key(map[string]string{"handle": "b"}); same != one || other == one || !strings.HasPrefix(one, "rollout-") {
		t.Errorf("%s, %s, %s", one, same, other)
	}
}

// An attribute that is half written is no attribute that is left out: the step would run unasked.
func TestAttributesThatAreRefused(t *testing.T) {
	t.Parallel()
	for attributes, want := range map[string]string{
		"confirm":     "confirm has no question",
		"confirm=' '": "confirm has no question",
		"ask":         "ask has no question",
		"check=no":    "check has no value",
		"step=b":      "step is given twice",
	} {
		_, err := Parse("x", "# T\n\n```sh {step=a "+attributes+"}\n")
		if err == nil || !strings.Contains(err.Error(), "line 3: "+want) {
			t.Errorf("%s: %v; want %s", attributes, err, want)
		}
	}
}
