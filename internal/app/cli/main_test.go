package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/app/cli/ui"
	"nbs-worker/internal/app/cli/ui/uitest"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/sim/rig"
)

func TestCommandLineThatCannotBeRead(t *testing.T) {
	t.Parallel()
	for line, hint := range map[string]string{
		"help frobnicate":                     "hint: nbs-worker --help",
		"help spwan":                          "did you mean: nbs-worker --root ROOT spawn",
		"frobnicate":                          "hint: nbs-worker --help",
		"resum alpha":                         "hint: did you mean: nbs-worker --root ROOT resume",
		"--bogus":                             "hint: nbs-worker --help",
		"spawn":                               "hint: nbs-worker spawn --help",
		"spawn a b c":                         "hint: nbs-worker --root ROOT spawn a 'b c'",
		"spawn a b --prompt c":                "given twice",
		"stop a --all":                        "exclude each other",
		"resume --all --down":                 "--all and --down exclude each other",
		"rm a":                                "did you mean: nbs-worker --root ROOT dismiss a",
		"events --verify -n 3":                "--verify",
		"stop a --fast":                       "unknown flag --fast",
		"ask @a x --id 1":                     "hint: to ask a copy: nbs-worker --root ROOT ask @a TEXT --fork",
		"ask @a x --on-lost fresh":            "do not work with an agent in its terminal",
		"ask @a x --on-unknown rerun":         "do not work with an agent in its terminal",
		"ask @a x --stream":                   "do not work with an agent in its terminal",
		"conversation history a -n -5":        "conversation history a: --last -5 is negative",
		"memory brief a --tokens x":           "nbs-worker: memory brief: --tokens \"x\" is not a whole number",
		"spawn a --bogus":                     "hint: nbs-worker spawn --help",
		"spawn a --timeout soon":              "--timeout \"soon\" is not a time such as 90s or 10m",
		"spawn ../x":                          "handle \"../x\" is not valid",
		"spawn -- --verbose":                  "one handle is needed, 0 given",
		"resume":                              "hint: to see the agents: nbs-worker --root ROOT list",
		"resume a b/c":                        "handle \"b/c\" is not valid",
		"session ..":                          "handle",
		"stop a:b":                            "handle",
		"dismiss a b c $x":                    "handle",
		"attach a b":                          "one handle is needed, 2 given",
		"schedule run":                        "one schedule is needed, 0 given",
		"run":                                 "one handle is needed, 0 given",
		"list alpha":                          "alpha",
		"version x":                           "x",
		"spawn a --prompt x --prompt-file y":  "prompt",
		"spawn a --timeout 1s --no-wait":      "--no-wait and --timeout exclude each other",
		"spawn a --timeout 0s":                "hint: to return without waiting: --no-wait",
		"spawn a --timeout -1s":               "hint: to return without waiting: --no-wait",
		"spawn a --model -x":                  "model \"-x\" is not valid",
		"spawn a --model x;touch":             "model \"x;touch\" is not valid",
		"resume a --model x;touch":            "model \"x;touch\" is not valid",
		"spawn a --permission-mode yolo":      "is not one of",
		"spawn a --session-id 1234":           "is not a UUID",
		"spawn a --env X":                     "is not NAME=VALUE",
		"spawn a -- --resume x":               "extra argument \"--resume\" is set by nbs-worker itself",
		"spawn a -- words":                    "hint: give the first prompt with --prompt TEXT",
		"--tmux-socket a;b spawn a":           "tmux socket \"a;b\" is not valid",
		"spawn a --env MY_TOKEN=canary-value": "hint: export MY_TOKEN",
	} {
		root := t.TempDir()
		hint = strings.ReplaceAll(hint, "ROOT", root)
		r := run(append([]string{"--root", root}, strings.Fields(line)...)...).want(t, fail.BadInput, hint)
		if r.out != "" || !strings.HasPrefix(r.err, "nbs-worker: ") || strings.Contains(r.err, "canary-value") {
			t.Errorf("%s\nstdout: %q\nstderr: %s", line, r.out, r.err)
		}
	}
}

func TestWithoutAProject(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, line := range []string{"list", "session a", "resume a", "stop a", "dismiss a", "attach a", "run a", "list --json"} {
		r := run(append([]string{"--root", dir}, strings.Fields(line)...)...)
		r.want(t, fail.NotFound, "no .nbs folder", "hint")
		rig.Check(t, r.out == "", "%s: stdout %q", line, r.out)
	}
	run("--root", filepath.Join(dir, "missing"), "list").want(t, fail.NotFound, "project root")
	entries, _ := os.ReadDir(dir)
	rig.Check(t, len(entries) == 0, "looking has made %v", entries)
}

func TestProjectThatOthersCanWrite(t *testing.T) {
	t.Parallel()
	project := newProject(t, uitest.Record("alpha"))
	rig.Must(t, os.Chmod(filepath.Join(project, ".nbs"), 0o777))
	for _, line := range []string{"list", "resume alpha", "spawn beta --dry-run"} {
		run(append([]string{"--root", project}, strings.Fields(line)...)...).want(t, fail.BadInput, "can be written by other users", "hint: ")
	}
}

func TestNobodyThere(t *testing.T) {
	t.Parallel()
	project := newProject(t, uitest.Record("alpha"))
	for _, verb := range []string{"session", "resume", "stop", "dismiss", "run"} {
		run("--root", project, verb, "beta").want(t, fail.NotFound, "no such agent", "hint: to see the agents: nbs-worker --root "+project+" list; to start it: nbs-worker --root "+project+" spawn beta")
	}
	run("--root", project, "session", "alpa").want(t, fail.NotFound, "session alpa: no such agent", "hint: did you mean alpha? To see the agents: nbs-worker --root "+project+" list\n")
	run("--root", project, "session", "beta", "gamma").want(t, fail.NotFound, "session beta: ", "session gamma: ")
	r := run("--root", project, "session", "alpha", "beta").want(t, fail.Partial, "session beta: ")
	rig.Check(t, strings.Contains(r.out, "alpha"), "one failure hides the other agent: %q", r.out)
	runOn(ui.Streams{InTTY: true, OutTTY: true}, "--root", project, "attach", "alpha").want(t, fail.NotFound, "never started")
	runOn(ui.Streams{OutTTY: true}, "--root", project, "attach", "alpha").want(t, fail.BadInput, "stdin is not a terminal")
	run("--root", project, "spawn", "alpha").want(t, fail.Conflict, "the handle is taken", "hint: to see that agent: ", "hint: if it is not running, to bring it back: ")
	run("--root", project, "attach", "alpha").want(t, fail.BadInput, "stdout is not a terminal")
}

func TestWhatIsNotThere(t *testing.T) {
	t.Parallel()
	project := newProject(t)
	run("--root", project, "spawn", "alpha", "--prompt-file", "missing.txt").want(t, fail.NotFound, "prompt file: open missing.txt: no such file")
	run("--root", project, "spawn", "alpha", "--cwd", "missing").want(t, fail.NotFound, "working directory: ")
	for _, blank := range []string{"", " ", "\n\t \r\n", "\u00a0\u2003"} {
		run("--root", project, "spawn", "alpha", "--prompt", blank).want(t, fail.BadInput, "the prompt is blank")
	}
}

// A record is lines to many a tool, and no path of ours holds a line break.
func TestFolderWithALineBreakIsRefused(t *testing.T) {
	t.Parallel()
	folder := filepath.Join(t.TempDir(), "a\nhint: rm -rf ~")
	rig.Must(t, os.Mkdir(folder, 0o700))
	for _, args := range [][]string{{"--root", t.TempDir(), "spawn", "alpha", "--cwd", folder}, {"--root", folder, "spawn", "alpha"}} {
		r := run(args...).want(t, fail.BadInput, "line break")
		rig.Check(t, strings.Count(r.err, "\n") == 1, "the name stands on lines of its own: %q", r.err)
	}
	made, _ := os.ReadDir(folder)
	rig.Check(t, len(made) == 0, "a refused project got %v", made)
}

// --down is for agents that should run and do not, --all for those too that were stopped; one
// failure keeps no other from its turn.
func TestSeveralAgents(t *testing.T) {
	t.Parallel()
	records := []agent.Record{uitest.Record("alpha"), uitest.Record("beta"), uitest.Record("ended")}
	for i := range records {
		records[i].ProjectRoot = t.TempDir()
	}
	records[2].Desired = agent.DesiredStopped
	project := newProject(t, records...)
	damage(t, project, "gamma")
	for which, want := range map[string]int{"--down": 2, "--all": 3} {
		r := run("--root", project, "resume", which, "--dry-run").want(t, fail.Partial, "resume gamma: the record")
		rig.Check(t, strings.Count(r.out, "cd ") == want, "%s: %s", which, r.out)
	}
	if r := run("--root", project, "stop", "alpha", "nobody", "beta").want(t, fail.Partial, "stop nobody: no such agent"); r.out != "alpha\nbeta\n" && r.out != "beta\nalpha\n" {
		t.Errorf("%q", r.out) // as each is done
	}
	r := run("--root", project, "resume", "--down", "--dry-run", "--json")
	rig.Check(t, !strings.Contains(r.out, "alpha"), "what was stopped is not down: %s", r.out)
	run("--root", project, "stop", "nobody", "noone").want(t, fail.NotFound, "stop nobody: ", "stop noone: ")
}

// Nobody dismisses all agents by a slip: a person is asked, a script has to say it.
func TestDismissAllIsAskedFor(t *testing.T) {
	t.Parallel()
	project := newProject(t, uitest.Record("alpha"), uitest.Record("beta"))
	run("--root", project, "dismiss", "--all").want(t, fail.BadInput, "would dismiss 2 agents; confirm with --yes", "hint: to confirm: nbs-worker --root "+project+" dismiss --all --yes")
	terminal := ui.Streams{InTTY: true, OutTTY: true, ErrTTY: true, In: strings.NewReader("\n")}
	runOn(terminal, "--root", project, "dismiss", "--all").want(t, fail.Interrupted, "dismiss alpha, beta? [y/N] ", "nothing was changed")
	terminal.In = strings.NewReader("y\n")
	r := runOn(terminal, "--root", project, "dismiss", "--all").want(t, 0)
	rig.Check(t, strings.Count(r.out, ": dismissed, was never started") == 2, "stdout is\n%s", r.out)
	r = run("--root", project, "list").want(t, 0)
	rig.Check(t, r.out == "", "there are still %s", r.out)
	r = run("--root", project, "dismiss", "--all", "--yes", "--json").want(t, 0)
	rig.Check(t, r.out == "[]\n", "of nobody: %q", r.out)
}

func TestOutputThatCannotBeWritten(t *testing.T) {
	t.Parallel()
	alpha := uitest.Record("alpha")
	alpha.ProjectRoot = t.TempDir()
	project := newProject(t, alpha)
	for _, line := range []string{
		"", "--help", "help", "help exit-codes", "spawn --help", "environment", "completion bash", "completion zsh", "completion fish",
		"completion powershell",
		"version", "version --json", "list", "list --json", "session alpha", "session alpha --json", "spawn beta --dry-run", "resume alpha --dry-run",
		"cost", "cost --json",
	} {
		for _, terminal := range []bool{true, false} {
			streams := ui.Streams{Out: uitest.Full{}, OutTTY: terminal}
			r := runOn(streams, append([]string{"--root", project}, strings.Fields(line)...)...)
			r.want(t, fail.Failed, os.ErrClosed.Error())
			rig.Check(t, strings.Count(r.err, "\n") == 1, "%s: stderr is\n%s", line, r.err)
		}
	}
}
