package teamfile

import (
	"strings"
	"testing"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/sim/rig"
)

const wholeFile = `
version: 1
name: The translators
defaults:
  model: sonnet
  permission_mode: acceptEdits
  environment: {LANG: C, PLACE: "${HOME}/x"}
  restart: on-failure
  memory: true
agents:
  alice:
    description: translates
    model: opus
    agent: translator
    effort: high
    settings: {permissions: {deny: ["Read(./.env)"]}, alwaysThinkingEnabled: true, n: 1.5, none: ~, t: "no"}
    args: [--add-dir, ../docs]
    prompt: |
      Read PLAN.md
      and begin.
    worktree: {branch: feature/a, base: main, link: [node_modules, a/b], setup: [npm, ci]}
  bob:
    depends_on: [Alice]
    environment: {LANG: de, N: 3, EMPTY: ""}
    working_dir: ./sub/
    restart: no
    memory: false
    settings: '{"a": []}'
    answers: false
    profiles: night
    prompt_file: prompts/bob.md
  carol:
    depends_on: {alice: {condition: first-turn-done}, bob: {condition: idle}}
    worktree: true
    settings: ./claude/carol.json
  dave: {model: default}
groups:
  all-of-it: [&first alice, Bob]
  one: [*first]
`

func TestParse(t *testing.T) {
	t.Parallel()
	got, err := Parse("team.yaml", []byte(wholeFile))
	rig.Must(t, err)
	usual := map[string]string{"LANG": "C", "PLACE": "${HOME}/x"}
	rig.Same(t, "file", &File{
		Name: "The translators",
		Agents: []Agent{
			{
				Handle: "alice", Description: "translates", Model: "opus", PermissionMode: "acceptEdits", Restart: "on-failure", Memory: true,
				ClaudeArgs: []string{"--agent", "translator", "--effort", "high", "--add-dir", "../docs"}, Environment: usual,
				Settings: `{"alwaysThinkingEnabled":true,"n":1.5,"none":null,"permissions":{"deny":["Read(./.env)"]},"t":"no"}`, Prompt: "Read PLAN.md\nand begin.", Worktree: &Worktree{Branch: "feature/a", Base: "main", Link: []string{"node_modules", "a/b"}, Setup: []string{"npm", "ci"}},
			},
			{
				Handle: "bob", Profiles: []string{"night"}, DependsOn: []Dependency{{"alice", Ready}}, Model: "sonnet", PermissionMode: "acceptEdits", Restart: "no",
				Environment: map[string]string{"LANG": "de", "PLACE": "${HOME}/x", "N": "3", "EMPTY": ""}, WorkingDir: "sub", PromptFile: "prompts/bob.md", NoAnswers: true, Settings: `{"a":[]}`,
			},
			{
				Handle: "carol", DependsOn: []Dependency{{"alice", FirstTurnDone}, {"bob", Idle}}, Model: "sonnet", PermissionMode: "acceptEdits", Restart: "on-failure",
				Environment: usual, Memory: true, Worktree: &Worktree{}, SettingsFile: "claude/carol.json",
			},
			{Handle: "dave", ClaudesModel: true, PermissionMode: "acceptEdits", Restart: "on-failure", Environment: usual, Memory: true},
		},
		Groups: []Group{{"all-of-it", []agent.Handle{"alice", "bob"}}, {"one", []agent.Handle{"alice"}}},
	}, got)
	members, err := got.Members("ALL-of-it")
	rig.Check(t, err == nil && len(members) == 2, "%v, %v", members, err)
	_, err = got.Members("all-of-its")
	rig.Check(t, fail.KindOf(err) == fail.NotFound && strings.Contains(strings.Join(fail.HintsOf(err), ""), "did you mean @all-of-it?"), "%v", err)
	got, err = Parse("team.yaml", []byte("agents: {alice: }"))
	rig.Must(t, err)
	rig.Same(t, "the least", []Agent{{Handle: "alice", Restart: "no"}}, got.Agents)
}

func TestDefaultsGiveWayToTheAgent(t *testing.T) {
	t.Parallel()
	got, err := Parse("team.yaml", []byte("defaults: {worktree: true}\nagents:\n  a: {worktree: false}\n  b: {working_dir: x}\n  c:\n"))
	rig.Must(t, err)
	rig.Check(t, got.Agents[0].Worktree == nil && got.Agents[1].Worktree == nil && got.Agents[1].WorkingDir == "x" && got.Agents[2].Worktree != nil, "%+v", got.Agents)
	got, err = Parse("team.yaml", []byte("defaults: {working_dir: x}\nagents:\n  a: {worktree: true}\n  b:\n"))
	rig.Must(t, err)
	rig.Check(t, got.Agents[0].WorkingDir == "" && got.Agents[1].WorkingDir == "x", "%+v", got.Agents)
}

func TestExpand(t *testing.T) {
	t.Parallel()
	find := func(name string) (string, bool) { return "<" + name + ">", name != "NONE" }
	for value, want := range map[string]string{
		"":                 "",
		"plain $HOME $5 $": "plain $HOME $5 $",
		"${A}/x/${B_2}":    "<A>/x/<B_2>",
		"$${A} ${A}":       "${A} <A>",
	} {
		got, err := Expand(value, find)
		rig.Check(t, err == nil && got == want, "%q: %q, %v", value, got, err)
	}
	for value, want := range map[string]string{"${A": `"${A" is not ${NAME}`, "${}": "is not ${NAME}", "${A:-b}": "is not ${NAME}", "x${NONE}": "the variable NONE is not set"} {
		_, err := Expand(value, find)
		rig.Check(t, fail.KindOf(err) == fail.BadInput && strings.Contains(err.Error(), want), "%q: %v", value, err)
	}
}
