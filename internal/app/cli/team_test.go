package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"nbs-worker/internal/app/cli/ui"
	"nbs-worker/internal/app/cli/ui/uitest"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/sim/rig"
)

// A team counts with its prompt files, as a person has seen both. A changed file is shown with what has changed.
func TestAllowTeam(t *testing.T) {
	t.Parallel()
	project := newProject(t)
	file, prompt := filepath.Join(project, "team.yaml"), filepath.Join(project, "task.md")
	put := func(path, text string) { rig.Must(t, os.WriteFile(path, []byte(text), 0o600)) }
	allow := func(answer string, more ...string) ran {
		args := append([]string{"--root", project, "allow", "--team"}, more...)
		return runOn(ui.Streams{In: strings.NewReader(answer), InTTY: true, OutTTY: true, ErrTTY: true}, args...)
	}
	allow("y\n").want(t, fail.NotFound, " team init")
	put(file, "agents:\n  alice: {model: opus, prompt_file: task.md}\n  bob:\n")
	allow("y\n").want(t, fail.BadInput, "line 2, column 37", "there is no such file")
	put(prompt, "Begin.")
	allow("n\n").want(t, fail.Failed)
	out := allow("y\n").want(t, 0).out
	for _, text := range []string{"  alice: {model: opus", "\nBegin.\n", `alice: model opus, the usual permission mode, with the text of "task.md"`, "team.yaml: allowed"} {
		rig.Check(t, strings.Contains(strings.Join(strings.Fields(out), " "), strings.Join(strings.Fields(text), " ")), "no %q in\n%s", text, out)
	}
	rig.Check(t, strings.HasSuffix(allow("").want(t, 0).out, "team.yaml: is allowed already\n"), "it is allowed")
	put(file, "agents:\n  alice: {model: haiku, prompt_file: task.md}\n  bob: {restart: always, environment: {A: b}, settings: {c: 1}}\n")
	out = allow("n\n").want(t, fail.Failed).out
	rig.Check(t, strings.Contains(out, "-  alice: {model: opus, prompt_file: task.md}\n") && strings.Contains(out, "+  alice: {model: haiku,") && !strings.Contains(out, "Begin."), "%s", out)
	rig.Check(t, strings.Contains(out, "the usual permission mode, restart always, settings \"{\\\"c\\\":1}\", A=\"b\""), "%s", out)
	other := filepath.Join(t.TempDir(), "other.yaml")
	put(other, "agents: {carol: }")
	allow("y\n", "--file", other).want(t, 0, "allow this team?")
	allow("y\n", "bob").want(t, fail.BadInput, "exclude each other")
	allow("y\n", "--schedules").want(t, fail.BadInput, "exclude each other")
	run("--root", project, "allow", "--team", "--file", other).want(t, fail.Held, "only a person can allow this", "--team --file ")
	run("--root", project, "allow", "bob", "--file", other).want(t, fail.BadInput, "--file belongs to --team")
}

// The file of a team made by hand says what the records say, and counts at once.
func TestTeamInit(t *testing.T) {
	t.Parallel()
	project := newProject(t, uitest.Record("alice"), uitest.Record("bob"))
	rig.Equal(t, run("--root", project, "team", "init").want(t, 0).out, "team.yaml\n", "what was written")
	person := ui.Streams{In: strings.NewReader(""), InTTY: true, OutTTY: true, ErrTTY: true}
	rig.Check(t, strings.Contains(runOn(person, "--root", project, "allow", "--team").want(t, 0).out, "is allowed already"), "it needs no permission")
	run("--root", project, "diff").want(t, 0)
	run("--root", project, "team", "init").want(t, fail.Conflict, "it was not changed")
	run("--root", newProject(t), "team", "init").want(t, fail.NotFound, "there is no agent")
}

// up --dry-run says which worktree it makes, and the table fits the terminal.
func TestDryRunOfATeamInTrees(t *testing.T) {
	t.Parallel()
	project := newProject(t)
	rig.Must(t, os.WriteFile(filepath.Join(project, "team.yaml"), []byte("agents:\n  api: {worktree: true}\n  web: {worktree: {branch: fix}, depends_on: [api]}\n  docs:\n"), 0o600))
	gitIn(t, project, "init", "-q", "-b", "main")
	gitIn(t, project, "commit", "-q", "--allow-empty", "-m", "first")
	gitIn(t, project, "branch", "fix")
	beside := "../" + filepath.Base(project) + ".nbs/"
	r := runOn(ui.Streams{OutTTY: true, ErrTTY: true, Width: 80}, "--root", project, "up", "--dry-run").want(t, 0)
	uitest.MustFit(t, r.out, "AGENT  ACTION  AFTER\n", "    changes: makes the worktree "+beside+"api on the new branch", "    changes: makes the worktree "+beside+"web on the branch fix\n")
	rig.Equal(t, run("--root", project, "up", "--dry-run").want(t, 0).out, "api\tstart\t-\tmakes the worktree "+beside+"api on the new branch nbs/api\n"+
		"web\tstart\tapi\tmakes the worktree "+beside+"web on the branch fix\ndocs\tstart\t-\t-\n", "in a pipe")
	r = run("--root", project, "up", "--dry-run", "--json").want(t, 0)
	rig.Check(t, strings.Contains(r.out, `"worktree":{"path":"`+project+`.nbs/api","branch":"nbs/api","new_branch":true,"is_there":false}`), "%s", r.out)
	gitIn(t, project, "switch", "-q", "fix")
	run("--root", project, "up", "--dry-run").want(t, fail.Conflict, "up: web: ")
}

// A group of an allowed team file stands for its members, in each verb that takes several agents. --all stands for all.
func TestGroups(t *testing.T) {
	t.Parallel()
	project := newProject(t, uitest.Record("alice"), uitest.Record("bob"), uitest.Record("carol"))
	file := filepath.Join(project, "team.yaml")
	rig.Must(t, os.WriteFile(file, []byte("agents: {alice: , bob: , carol: }\ngroups: {pair: [bob, alice]}\n"), 0o600))
	of := func(args ...string) ran { return run(append([]string{"--root", project}, args...)...) }
	of("session", "@pair").want(t, fail.Held, "allow --team")
	person := ui.Streams{In: strings.NewReader("y\n"), InTTY: true, OutTTY: true, ErrTTY: true}
	runOn(person, "--root", project, "allow", "--team").want(t, 0)
	for _, verb := range []string{"session", "triage", "reset", "memory off"} {
		out := of(append(strings.Fields(verb), "@pair", "--json")...).out
		for handle, is := range map[string]bool{"alice": true, "bob": true, "carol": false} {
			rig.Check(t, strings.Contains(out, `"handle":"`+handle+`"`) == is, "%s @pair, %s: %s", verb, handle, out)
		}
		of(append(strings.Fields(verb), "@pear")...).want(t, fail.NotFound, `no group "@pear"`, "there are @pair")
	}
	for _, verb := range []string{"events", "requests", "outbox list"} {
		of(append(strings.Fields(verb), "@pair")...).want(t, 0)
		of(append(strings.Fields(verb), "@pear")...).want(t, fail.NotFound, `no group "@pear"`)
	}
	for _, verb := range []string{"session", "reset"} {
		out := of(verb, "--all", "--json").want(t, 0).out
		rig.Check(t, strings.Count(out, `"handle":`) >= 3, "%s --all: %s", verb, out)
		of(verb, "--all", "bob").want(t, fail.BadInput, "exclude each other")
	}
	of("session", "--all", "--last-screen").want(t, fail.BadInput)
	of("session", "@pair", "--last-screen").want(t, fail.BadInput)
	of("interrupt", "--all").want(t, 0)
	out := of("__complete", "session", "").out
	rig.Check(t, strings.Contains(out, "@pair\tbob, alice\n"), "completion: %s", out)
}
