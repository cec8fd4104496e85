package teamfile

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"nbs-worker/internal/fail"
	"nbs-worker/internal/sim/rig"
)

var placed = regexp.MustCompile(`^(team file "t", )?line [1-9][0-9]*, column [1-9][0-9]*: \S`)

// refusedAll checks that a file is refused: each mistake has a line and a column, and the wanted texts are among them.
func refusedAll(t *testing.T, text string, want ...string) {
	t.Helper()
	file, err := Parse("t", []byte(text))
	if err == nil || file != nil || fail.KindOf(err) != fail.BadInput {
		t.Errorf("%q: %+v, %v", text, file, err)
		return
	}
	lines := strings.Split(err.Error(), "\n")
	if strings.HasSuffix(lines[0], " mistakes") {
		lines = lines[1:]
	}
	for _, line := range lines {
		rig.Check(t, placed.MatchString(line), "%q: %q has no place", text, line)
	}
	for _, part := range want {
		rig.Check(t, strings.Contains(err.Error(), part), "%q: no %q in\n%v", text, part, err)
	}
}

// Each field of an agent, and of the defaults, with each value that cannot be its own.
func TestEveryFieldRefusesWhatIsNotItsOwn(t *testing.T) {
	t.Parallel()
	words := []string{"", "{}", "{a: b}", "[[a]]", "~"}
	wrong := map[string][]string{
		"model":           append(words, "sonet", "a b", "-x"),
		"permission_mode": append(words, "plann", "Plan", "yes"),
		"agent":           append(words, "-x", "a b"),
		"settings":        {"", "~", "[]", "/etc/x.json", "../x.json", ".", "'{'", "'{} {}'", "{model: opus}", "{a: &x 1, b: *x}", "{a: 1, a: 2}", "{a: 0x1}", "{a: .inf}", "{a: 2026-01-01}", "{hooks: [a]}", "{env: {API_KEY: x}}", "{env: {LD_PRELOAD: x}}", "{permissions: {defaultMode: plan}}", "{<<: {a: 1}}", "{a: True}"},
		"effort":          append(words, "hihg", "3"),
		"args":            {"", "{}", "--verbose", "[a]", "[--model, x]", "[--resume]", "[--verbose, word]", "[[--a]]", "[~]", "[-p]"},
		"environment":     {"", "x", "[A=b]", "{1A: x}", "{A: }", "{A: [b]}", "{A: {b: c}}", "{API_KEY: x}", "{A: '${API_KEY}'}", "{LD_PRELOAD: x}", "{NBS_ROOT: x}", "{A: '${'}", "{A: '${b c}'}", "{A: x, A: y}", "{HOME: x}"},
		"working_dir":     append(words, `"a\nb"`, `"a\tb"`, `"\u202e"`),
		"worktree":        {"", "yes", "[]", "x", "{branc: x}", "{branch: a..b}", "{branch: -x}", "{branch: }", "{base: -x}", "{base: a b}", "{setup: /bin/sh}", "{setup: []}", "{setup: [./x]}", "{setup: [-x]}", "{setup: [~]}", "{link: a}", "{link: [../a]}", "{link: [/a]}", "{link: [.git]}", "{link: [.git/x]}", "{link: [.]}", "{link: [a/]}", "{branch: x, branch: y}"},
		"restart":         append(words, "never", "on-failur", "true"),
		"memory":          append(words, "yes", "on", "1", "True"),
		"answers":         append(words, "no", "off", "0"),
		"budget":          append(words, "5", "5.00", "0/day", "-1/day", "5/month", "5 / day", "NaN/day"),
		"description":     append(words, `"a\nb"`, `"\u202e"`),
		"profiles":        {"", "{}", "[a b]", "a b", "[~]", "[[a]]"},
		"prompt":          append(words, `" "`, "/exit", `"\u0007"`),
		"prompt_file":     append(words, "/etc/passwd", "../x", ".", "a/../../b", `"a\tb"`),
		"depends_on":      {"", "b", "[alice]", "[nobody]", "[alcie]", "[b, b]", "[b, B]", "{b: }", "{b: {}}", "{b: idle}", "{b: {condition: }}", "{b: {condition: redy}}", "{b: {when: idle}}", "[{b: idle}]", "[~]"},
	}
	fields := slices.Concat(sharedFields, ownFields)
	count := 0
	for _, field := range fields {
		rig.Check(t, len(wrong[field]) > 0, "no wrong values of %s", field)
		for _, value := range wrong[field] {
			refusedAll(t, fmt.Sprintf("agents:\n  alice: {%s: %s}\n  b:\n", field, value), "line 2, column ")
			count++
			if slices.Contains(sharedFields, field) {
				refusedAll(t, fmt.Sprintf("defaults:\n  %s: %s\nagents: {b: }\n", field, value), "line 2, column ")
				count++
			}
		}
		slip := field[:len(field)-1]
		refusedAll(t, fmt.Sprintf("agents:\n  alice: {%s: x}\n", slip), fmt.Sprintf("line 2, column 11: alice: there is no field %q; did you mean %s?", slip, field))
		refusedAll(t, fmt.Sprintf("agents:\n  alice:\n    %[1]s: x\n    %[1]s: x\n", field), "line 4, column 5: alice: "+field+" is there twice")
		count += 2
	}
	rig.Check(t, count >= 200, "%d wrong files", count)
}

func TestFilesThatAreWrong(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"version: 2\nagents: {a: }":         `line 1, column 10: version: this nbs-worker reads version 1, not "2"`,
		"version: \nagents: {a: }":          "line 1, column 9: a text belongs here",
		"name: x":                           "line 1, column 1: the file: agents are missing",
		"agents:":                           "agents: names with something below them belong here",
		"agents: [a]":                       "line 1, column 9: agents: names with",
		"agents: {a: [x]}":                  "line 1, column 13: a: fields belong here",
		"agents: {a: x}":                    "line 1, column 13: a: fields belong here",
		"agents: {a b: }":                   `line 1, column 10: agents: handle "a b" is not valid`,
		"agents: {a: , A: }":                "line 1, column 15: agents: there is an agent A already, in line 1",
		"agent: {a: }":                      "line 1, column 1: the file: there is no field \"agent\"; did you mean agents?",
		"services: {a: }":                   "there is no field \"services\"; there are version, name, defaults, agents, groups",
		"- a":                               "line 1, column 1: the file: fields belong here",
		"a":                                 "line 1, column 1: the file: fields belong here",
		"agents: {a: ":                      "line ",
		"\tagents: {a: }":                   "line 1, column ",
		"agents: {a: }\n---\nagents: {b: }": "line 2, column 1: there is a second document",
		"agents: {a: }\ngroups: [a]":        "line 2, column 9: groups: names with",
		"agents: {a: }\ngroups: {g: a}":     "line 2, column 13: groups: g: a list of agents belongs here",
		"agents: {a: }\ngroups: {g: []}":    "groups: g: a list of agents belongs here",
		"agents: {a: }\ngroups: {g: [b]}":   `line 2, column 14: groups: g: there is no agent "b" in the file`,
		"agents: {alice: }\ngroups: {g: [alcie]}":                 "did you mean alice?",
		"agents: {a: }\ngroups: {g: [a, A]}":                      "line 2, column 17: groups: g: a is there twice",
		"agents: {a: }\ngroups: {g h: [a]}":                       `"g h" is no name of a group`,
		"agents: {a: }\ngroups: {g: [a], G: [a]}":                 "there is a group G already, in line 2",
		"defaults: {prompt: x}\nagents: {a: }":                    `line 1, column 12: defaults: there is no field "prompt"`,
		"defaults: {worktree: {branch: x}}\nagents: {a: }":        "two agents cannot share a branch",
		"agents: {a: {worktree: true, working_dir: x}}":           "a: worktree and working_dir exclude each other",
		"agents: {a: {prompt: x, prompt_file: y}}":                "a: prompt and prompt_file exclude each other",
		"agents: {a: {effort: max, args: [--effort=low]}}":        "a: effort is given twice, as a field and in args",
		"agents: {a: {agent: x, args: [--agent, y]}}":             "a: agent is given twice",
		"agents:\n  a: {depends_on: [a]}":                         "line 2, column 20: a: depends_on: it is a circle: a -> a",
		"agents:\n  a: {depends_on: [b]}\n  b: {depends_on: [A]}": "line 3, column 20: b: depends_on: it is a circle: a -> b -> a",
		"agents:\n  c:\n  a: {depends_on: [c, b]}\n  b: {depends_on: {d: {condition: idle}}}\n  d: {depends_on: [a]}": "line 5, column 20: d: depends_on: it is a circle: a -> b -> d -> a",
	} {
		refusedAll(t, text, want)
	}
	for _, text := range []string{"", "# nothing\n", "agents: {}"} {
		_, err := Parse("t", []byte(text))
		rig.Check(t, fail.KindOf(err) == fail.BadInput && strings.Contains(err.Error(), "names no agent"), "%q: %v", text, err)
	}
	refusedAll(t, "version: 3\nagents:\n  a: {modl: x}\n  b: {restart: never, depends_on: [c]}\nfoo: 1\n",
		"5 mistakes\n", "line 1, column 10", "line 3, column 7", "line 4, column 16", "line 4, column 36", "line 5, column 1")
}

func FuzzParse(f *testing.F) {
	f.Add(wholeFile)
	f.Add("agents: &a {b: *a}")
	f.Add("agents:\n  a: {depends_on: [b]}\n  b: {depends_on: [a]}")
	f.Fuzz(func(t *testing.T, text string) {
		file, err := Parse("t", []byte(text))
		if err != nil {
			rig.Check(t, fail.KindOf(err) == fail.BadInput && file == nil, "%v", err)
			return
		}
		again, err := file.Format()
		rig.Must(t, err)
		read, err := Parse("t", again)
		rig.Must(t, err)
		rig.Same(t, string(again), file, read)
	})
}
