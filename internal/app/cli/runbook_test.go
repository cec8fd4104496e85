package cli

import (
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"nbs-worker/internal/app/cli/ops"
	"nbs-worker/internal/app/cli/ui"
	"nbs-worker/internal/app/cli/ui/uitest"
	"nbs-worker/internal/app/wire"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/sim/rig"
	"nbs-worker/internal/team/recovery/runbook"
	"nbs-worker/runbooks"
)

// examples are values for the parameters of the program's own pages.
var examples = map[string]string{"handle": "alpha", "prompt": "Begin."}

// plans are the program's own pages with their parameters set.
func plans(t *testing.T) map[string]runbook.Plan {
	t.Helper()
	files, err := fs.Glob(runbooks.Pages, "*.md")
	if err != nil || len(files) < 2 {
		t.Fatal(files, err)
	}
	all := map[string]runbook.Plan{}
	for _, file := range files {
		text, err := fs.ReadFile(runbooks.Pages, file)
		rig.Must(t, err)
		page, err := runbook.Parse(strings.TrimSuffix(file, ".md"), string(text))
		rig.Must(t, err)
		set := map[string]string{}
		for _, p := range page.Parameters {
			if p.Required {
				set[p.Name] = examples[p.Name]
			}
		}
		plan, err := page.Plan(set)
		rig.Must(t, err)
		all[page.Name] = plan
	}
	return all
}

// Every command of every page exists, with these flags; so does what the prose names in one line. Each page has its parts.
func TestPagesNameWhatThereIs(t *testing.T) {
	t.Parallel()
	verbs := &ops.Verbs{Factory: newFactory(nil, ui.Streams{})}
	for name, plan := range plans(t) {
		checks := slices.ContainsFunc(plan.Page.Steps, func(s runbook.Step) bool { return s.Check })
		rig.Check(t, plan.Page.Summary != "" && checks && strings.Contains(plan.Page.Text, "\n## When it fails\n"), "%s lacks a summary, a check, or what to do when it fails", name)
		for _, step := range plan.Steps {
			for _, args := range step.Commands {
				err := verbs.Check(args)
				rig.Check(t, err == nil, "%s, step %s: %q: %v", name, step.Name, args, err)
			}
		}
		for _, args := range mentioned(plan.Page.Text) {
			cmd, rest, err := Tree().Find(args)
			if err == nil && cmd.HasParent() {
				err = cmd.ParseFlags(rest)
			}
			rig.Check(t, err == nil && cmd.HasParent(), "%s mentions %q: %v", name, args, err)
		}
	}
}

// mentioned are the commands that the prose of a page names, in code spans and indented blocks.
func mentioned(page string) [][]string {
	var all [][]string
	for part := range strings.SplitSeq(strings.ReplaceAll(page, "\n    ", "`"), "`") {
		line, _, _ := strings.Cut(part, "\n")
		if words := strings.Fields(line); len(words) > 1 && words[0] == "nbs-worker" && !strings.HasPrefix(line, "nbs-worker $") {
			all = append(all, words[1:])
		}
	}
	return all
}

func TestStepsThatAreRefused(t *testing.T) {
	t.Parallel()
	verbs := &ops.Verbs{Factory: newFactory(nil, ui.Streams{})}
	for line, want := range map[string]string{
		"runbook run restart":           "runbook is not allowed in a step: a runbook does not run another one",
		"attach alpha":                  "attach is not allowed in a step",
		"run alpha":                     "run is not allowed in a step",
		"allow alpha":                   "allow is not allowed in a step",
		"hook":                          "hook is not allowed in a step",
		"watch":                         "watch is not allowed in a step: it does not end",
		"events --follow":               "events --follow is not allowed in a step: it does not end",
		"logs alpha -f":                 "logs alpha -f is not allowed in a step: it does not end",
		"memory work":                   "memory work is not allowed in a step: it does not end",
		"memory work --once=false":      "is not allowed in a step: it does not end",
		"help list":                     "help is not allowed in a step",
		"completion bash":               "unknown command",
		"__complete list":               "unknown command",
		"lst":                           "unknown command",
		"list --fast":                   "list: unknown flag --fast",
		"list alpha beta":               "",
		"stop":                          "stop: a handle is needed",
		"send alpha /x --raw --by-file": "--by-file and --raw exclude each other",
		"resume alpha --timeout soon":   `--timeout "soon" is not a time`,
		"list --help":                   "",
	} {
		err := verbs.Check(strings.Fields(line))
		rig.Check(t, err != nil && strings.Contains(err.Error(), want), "%s: %v; want %s", line, err, want)
	}
	for _, line := range []string{"memory work --once", "events --follow=false", "logs alpha"} {
		rig.Must(t, verbs.Check(strings.Fields(line)))
	}
}

func TestRunbookListAndShow(t *testing.T) {
	t.Parallel()
	project := newProject(t)
	writePage(t, project, "deploy", "# Deploy\u0021\n\n- `to`: where\n\n```sh {step=go}\nnbs-worker list\n```\n")
	if r := run("--root", project, "runbook", "list").want(t, 0); !strings.Contains(r.out, "deploy\tproject, not allowed\tDeploy!\n") || !strings.Contains(r.out, "restart\tbuilt-in\tA team after downtime\n") {
		t.Error(r)
	}
	var pages []wire.Runbook
	r := run("--root", project, "runbook", "list", "--json").want(t, 0)
	if err := json.Unmarshal([]byte(r.out), &pages); err != nil || pages[0].Name != "deploy" || pages[0].Allowed || !pages[0].Parameters[0].Required || pages[0].Steps[0].Name != "go" {
		t.Errorf("%v, %+v", err, pages)
	}
	text, err := fs.ReadFile(runbooks.Pages, "fixup.md")
	r = run("--root", project, "runbook", "show", "fixup").want(t, 0)
	rig.Check(t, err == nil && r.out == string(text), "%v, %s", err, r.out)
	run("--root", project, "runbook", "show", "deploy").want(t, 0, "it does not run until then")
	run("--root", project, "runbook", "show", "nothing").want(t, fail.NotFound, "there is no runbook nothing", "nbs-worker --root "+project+" runbook list")
	run("--root", project, "runbook", "show", "../x").want(t, fail.BadInput, "is no name of a runbook")
	run("runbook", "shwo").want(t, fail.BadInput, "unknown command runbook \"shwo\"")
	r = run("--root", t.TempDir(), "runbook", "list").want(t, 0)
	rig.Check(t, strings.Contains(r.out, "fixup\tbuilt-in\t"), "without a project: %+v", r)
}

func writePage(t *testing.T, project, name, text string) {
	t.Helper()
	folder := filepath.Join(project, "runbooks")
	rig.Must(t, os.MkdirAll(folder, 0o700))
	rig.Must(t, os.WriteFile(filepath.Join(folder, name+".md"), []byte(text), 0o600))
}

func TestRunbookDryRun(t *testing.T) {
	t.Parallel()
	project := newProject(t, uitest.Record("alpha"))
	r := run("--root", project, "runbook", "run", "fixup", "--set", "handle=alpha", "--dry-run", "--from", "repair").want(t, 0)
	want := "repair\tnbs-worker recover alpha --max-level 3\n"
	rig.Check(t, strings.HasPrefix(r.out, want) && !strings.Contains(r.out, "look"), "%q", r.out)
	r = run("--root", project, "runbook", "run", "restart", "--dry-run", "--json").want(t, 0)
	var plan wire.RunbookRun
	if err := json.Unmarshal([]byte(r.out), &plan); err != nil || plan.Result != "planned" || strings.Join(plan.Steps[1].Commands[0].Command, " ") != "nbs-worker recover --all --max-level 3" {
		t.Errorf("%v, %+v", err, plan)
	}
	for line, want := range map[string]string{
		"fixup":                    "handle is not set: the agent",
		"fixup --set handle":       "is not NAME=VALUE",
		"fixup --set handle=a/b":   "handle \"a/b\" is not valid",
		"fixup --set handle=--all": "would be taken for a flag",
		"restart --set x=1":        "no parameter \"x\"",
		"restart --from nowhere":   "no step \"nowhere\"",
		"restart fixup":            "one runbook is needed, 2 given",
		"Restart":                  "is no name of a runbook",
	} {
		run(append([]string{"--root", project, "runbook", "run", "--dry-run"}, strings.Fields(line)...)...).want(t, fail.BadInput, want)
	}
	run("--root", project, "events").want(t, 0)
	entries, err := os.ReadDir(filepath.Join(project, ".nbs/runs"))
	rig.Check(t, err == nil && len(entries) == 0, "%v, %v", entries, err)
}

// What runs in a project that nobody has agents in yet, or in the wrong folder, says so and makes
// nothing.
func TestRunbookWhereThereIsNoProject(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	run("--root", dir, "runbook", "run", "restart").want(t, fail.NotFound, "no .nbs folder", "step look failed", "nbs-worker --root "+dir+" runbook run restart --from look")
	entries, err := os.ReadDir(dir)
	rig.Check(t, err == nil && len(entries) == 0, "%v, %v", entries, err)
}

func TestRunbookOfTheProjectIsRefused(t *testing.T) {
	t.Parallel()
	project := newProject(t)
	writePage(t, project, "deploy", "# Deploy\n\n```sh {step=go}\nnbs-worker list\n```\n")
	run("--root", project, "runbook", "run", "deploy").want(t, fail.Held, "\"runbooks/deploy.md\" is not allowed", "nbs-worker --root "+project+" allow --runbook deploy")
	run("--root", project, "allow", "--runbook", "deploy").want(t, fail.Held, "only a person can allow this, on a terminal", "allow --runbook deploy")
	run("--root", project, "allow", "--runbook", "deploy", "alpha").want(t, fail.BadInput, "exclude each other")
}

func TestRunbookCompletion(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"runbook show":             "restart\tA team after downtime\n",
		"runbook run":              "fixup\tOne agent that does not do its work\n",
		"runbook run fixup --from": "repair\tRepair\n",
		"runbook run fixup --set":  "handle=\tthe agent\n",
	} {
		r := run(append(append([]string{"__complete"}, strings.Fields(line)...), "")...)
		rig.Check(t, r.code == 0 && strings.Contains(r.out, want), "%s: %+v", line, r)
	}
}
