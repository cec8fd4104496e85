package cli

import (
	"encoding/json"
	"maps"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"nbs-worker/internal/app/cli/ui"
	"nbs-worker/internal/app/wire"
	"nbs-worker/internal/sim/rig"
)

// verbs are the commands that do something, and that are ours.
func verbs() []*cobra.Command { return verbsOf(Tree()) }

func verbsOf(parent *cobra.Command) []*cobra.Command {
	var all []*cobra.Command
	for _, cmd := range parent.Commands() {
		if cmd.RunE != nil && !cmd.Hidden && cmd.Name() != "completion" && cmd.Name() != "help" {
			all = append(append(all, cmd), verbsOf(cmd)...)
		}
	}
	return all
}

// nameOf is a verb as it is typed.
func nameOf(cmd *cobra.Command) string { return strings.TrimPrefix(cmd.CommandPath(), "nbs-worker ") }

// runHelp runs the help of a verb, behind other words.
func runHelp(cmd *cobra.Command, before ...string) ran {
	return run(slices.Concat(before, strings.Fields(strings.TrimPrefix(nameOf(cmd), "nbs-worker")), []string{"--help"})...)
}

// runManual runs help about a verb, which leaves nothing out.
func runManual(cmd *cobra.Command) ran {
	return run(append([]string{"help"}, strings.Fields(strings.TrimPrefix(nameOf(cmd), "nbs-worker"))...)...)
}

// An agent that reads the help of a verb can use it.
func TestHelpOfEachVerb(t *testing.T) {
	t.Parallel()
	if len(verbs()) < 9 {
		t.Fatalf("only %d verbs", len(verbs()))
	}
	for _, cmd := range verbs() {
		r := runManual(cmd)
		if r.code != 0 || r.err != "" {
			t.Errorf("help %s: exit code %d, stderr %q", nameOf(cmd), r.code, r.err)
		}
		for _, want := range []string{cmd.Long, "\nUsage:\n  " + cmd.Parent().CommandPath() + " " + cmd.Use, "\nExamples:\n", "\nExit codes:\n    0  done"} {
			if !strings.Contains(inWordsOnly(r.out), inWordsOnly(want)) {
				t.Errorf("help %s does not hold %q:\n%s", nameOf(cmd), want, r.out)
			}
		}
		if cmd.Short == "" || cmd.Example == "" || strings.HasSuffix(cmd.Short, ".") {
			t.Errorf("%s: short %q, example %q", cmd.Name(), cmd.Short, cmd.Example)
		}
	}
}

// longOf is the text of a verb's help.
func longOf(verb ...string) string {
	cmd, _, _ := Tree().Find(verb)
	return cmd.Long
}

// inWordsOnly is a text without its line breaks.
func inWordsOnly(text string) string { return strings.Join(strings.Fields(text), " ") }

// everyCommand calls use for each command and topic that help shows, the root included.
func everyCommand(use func(cmd *cobra.Command)) {
	var all func(cmd *cobra.Command)
	all = func(cmd *cobra.Command) {
		use(cmd)
		for _, child := range cmd.Commands() {
			if !child.Hidden {
				all(child)
			}
		}
	}
	all(Tree())
}

// Each help text fits a terminal of 80 columns, with all its words.
func TestHelpFitsATerminal(t *testing.T) {
	t.Parallel()
	everyCommand(func(cmd *cobra.Command) {
		help := runManual(cmd).out
		for line := range strings.Lines(help + runHelp(cmd).out) {
			rig.Check(t, utf8.RuneCountInString(strings.TrimRight(line, "\n")) <= 78 && !strings.ContainsRune(line, '\t') || strings.Contains(cmd.CommandPath(), " completion "), "help %s has the line %q", nameOf(cmd), line)
		}
		rig.Check(t, strings.Contains(inWordsOnly(help), inWordsOnly(cmd.Long)), "the words of %s", nameOf(cmd))
	})
}

// What --help prints fits on one screen of 80x40. It explains or names each flag, and says where the rest is.
func TestShortHelpFitsOnAScreen(t *testing.T) {
	t.Parallel()
	commands := 0
	everyCommand(func(cmd *cobra.Command) {
		if !cmd.Runnable() && !cmd.HasSubCommands() {
			return // a topic
		}
		commands++
		short, whole := runHelp(cmd).out, runManual(cmd).out
		rig.Check(t, strings.Count(short, "\n") <= 40, "%s --help has %d lines:\n%s", nameOf(cmd), strings.Count(short, "\n"), short)
		cmd.LocalFlags().VisitAll(func(flag *pflag.Flag) {
			if flag.Hidden || !cmd.HasParent() {
				return
			}
			rig.Check(t, flag.Name == "help" || strings.Contains(short, "--"+flag.Name), "%s --help does not name --%s", nameOf(cmd), flag.Name)
			rig.Check(t, regexp.MustCompile(`(?m)^ +(-., )?--`+flag.Name+` .*[a-z]`).MatchString(whole), "help %s does not explain --%s:\n%s", nameOf(cmd), flag.Name, whole)
		})
		for _, usual := range strings.Fields(strings.Join(slices.Collect(maps.Values(cmd.Annotations)), " ")) {
			rig.Check(t, cmd.Flags().Lookup(usual) != nil, "%s has no --%s", nameOf(cmd), usual)
		}
		rest := "Full help:     nbs-worker help " + nameOf(cmd) + "\n"
		if !cmd.HasParent() {
			rest = "nbs-worker help NAME "
		}
		rig.Check(t, strings.Contains(short, rest), "%s --help does not say where the rest is:\n%s", nameOf(cmd), short)
	})
	rig.Check(t, commands > 100, "%d commands", commands)
}

// The short help leaves out details and the words of exit codes, and the whole one has them.
func TestShortHelpLeavesOutWhatIsRare(t *testing.T) {
	t.Parallel()
	for _, rare := range []string{"idleCompaction", "--session-id string", "held: a person is needed", "Common flags:\n"} {
		rig.Check(t, !strings.Contains(run("spawn", "--help").out, rare), "spawn --help has %q", rare)
		rig.Check(t, strings.Contains(run("help", "spawn").out, rare), "help spawn does not have %q", rare)
	}
	short := run("spawn", "--help").out
	for _, want := range []string{"--session-id, ", "Exit codes:    0, 1, 2, ", "Common flags:  --host, --hosts, --root, --tmux-socket"} {
		rig.Check(t, strings.Contains(short, want), "spawn --help does not have %q:\n%s", want, short)
	}
	for _, want := range []string{"  spawn         Start a new agent", "  --tmux-socket string ", "  restarts      Explain"} {
		rig.Check(t, strings.Contains(run("help").out, want), "help does not have %q", want)
	}
}

var exampleFlag = regexp.MustCompile(` --([a-z-]+)`)

func TestExamplesAreOfTheirVerbAndUseItsFlags(t *testing.T) {
	t.Parallel()
	for _, cmd := range verbs() {
		for line := range strings.Lines(strings.ReplaceAll(cmd.Example, " \\\n     ", "")) {
			ours, _, _ := strings.Cut(line, "|") // behind it another program
			ours, _, _ = strings.Cut(ours, " -- ")
			if !strings.HasPrefix(ours, "  "+cmd.CommandPath()) {
				t.Errorf("%s: the example %q is of something else", cmd.Name(), line)
			}
			for _, match := range exampleFlag.FindAllStringSubmatch(ours, -1) {
				if cmd.Flag(match[1]) == nil && cmd.InheritedFlags().Lookup(match[1]) == nil {
					t.Errorf("%s: there is no --%s: %q", cmd.Name(), match[1], line)
				}
			}
		}
	}
}

// The commands that a topic shows are some, with flags that they have.
func TestCommandsOfTheTopicsExist(t *testing.T) {
	t.Parallel()
	shown := 0
	for _, topic := range ui.Topics(Tree()) {
		for line := range strings.Lines(topic.Long) {
			line, _, _ = strings.Cut(line, "|") // behind it another program
			line, is := strings.CutPrefix(strings.TrimPrefix(strings.TrimSpace(line), "$ "), "nbs-worker ")
			if line, _, _ = strings.Cut(line, "  "); !is || line == "" || strings.HasSuffix(line, ":") {
				continue
			}
			shown++
			cmd, _, err := Tree().Find(strings.Fields(line))
			rig.Check(t, err == nil && cmd.HasParent(), "%s: nbs-worker %s: %v", topic.Name(), line, err)
			for _, match := range exampleFlag.FindAllStringSubmatch(line, -1) {
				rig.Check(t, cmd.Flag(match[1]) != nil || cmd.InheritedFlags().Lookup(match[1]) != nil, "%s: %s has no --%s", topic.Name(), nameOf(cmd), match[1])
			}
		}
	}
	rig.Check(t, shown > 40, "%d commands", shown)
}

func TestExitCodesOfTheHelpAreThePublishedOnes(t *testing.T) {
	t.Parallel()
	all := run("help", "exit-codes").out
	rig.Check(t, strings.Contains(all, "host that cannot be reached ends a command with 3 if"), "help exit-codes: %s", all)
	states := run("help", "states").out
	rig.Check(t, strings.Contains(states, "A host, and no agent, is unreachable"), "help states: %s", states)
	for _, want := range []string{
		"    0  done", "    1  failed", "    2  not found", "    3  timed out", "    4  bad arguments", "    5  conflict",
		"    6  a dependency is missing", "    7  partly done", "    8  held", "  130  interrupted",
	} {
		rig.Check(t, strings.Count(all, "\n"+want) == 1, "help exit-codes does not hold %q once:\n%s", want, all)
	}
	rig.Check(t, strings.Contains(run("help", "diff").out, "\n    1  failed"), "help diff leaves out the code of a difference")
	for _, cmd := range verbs() {
		_, codes, _ := strings.Cut(cmd.Long, "\n\nExit codes:\n")
		for line := range strings.Lines(codes + "\n") {
			if !strings.Contains(all, "\n"+line) {
				t.Errorf("%s: the code %q is none of the published ones", cmd.Name(), line)
			}
		}
	}
}

// Whoever relies on a stop has to know what it cannot see.
func TestHelpOfStopSaysWhatItCannotSee(t *testing.T) {
	t.Parallel()
	help := strings.Join(strings.Fields(run("help", "stop").out), " ")
	want := "A process that detaches itself, as daemons do, and also drops its environment, cannot be seen and keeps running."
	rig.Check(t, strings.Contains(help, want), "help stop does not hold %q:\n%s", want, help)
}

func TestTopics(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"NBS_ROOT", "NBS_TMUX_SOCKET", "NBS_CLAUDE", "NBS_MODEL", "NBS_PERMISSION_MODE", "NBS_CONTEXT_BANDS", "CLAUDE_CONFIG_DIR", "NO_COLOR", "NBS_HANDLE", "NBS_INVOCATION_ID", "NBS_LAUNCH", "NBS_STATE", "NBS_RUNTIME", "XDG_STATE_HOME", "XDG_RUNTIME_DIR"} {
		out := run("help", "environment").out
		rig.Check(t, strings.Contains(out, name+" "), "help environment does not name %s", name)
	}
	r := run([]string{}...) // of nil cobra makes the arguments of this process
	rig.Check(t, r.code == 0 && strings.Contains(r.out, "  Conversations: ask, ") && r.err == "", "without arguments: %+v", r)
	r = run("version")
	rig.Check(t, r.code == 0 && strings.HasPrefix(r.out, "nbs-worker ") && strings.Count(r.out, "\n") == 1, "version: %+v", r)
	var version wire.Version
	r = run("version", "--json")
	err := json.Unmarshal([]byte(r.out), &version)
	rig.Check(t, err == nil && version.OS == runtime.GOOS && version.Arch == runtime.GOARCH && version.Go == runtime.Version(), "version --json: %v, %s", err, r.out)
}

// Help is also for where nothing else works.
func TestHelpOpensNothing(t *testing.T) {
	t.Parallel()
	for _, cmd := range verbs() {
		r := runHelp(cmd, "--root", "/nonexistent", "--tmux-socket", "a;b")
		if r.code != 0 || r.err != "" {
			t.Errorf("%s --help: exit code %d, stderr %q", cmd.Name(), r.code, r.err)
		}
	}
}

// A command line is given the one command that it names, found by that name.
func TestCommandsAreFoundByTheirNames(t *testing.T) {
	t.Parallel()
	for _, g := range groups() {
		for _, c := range g.commands {
			made := c.Make(newFactory(nil, ui.Streams{})).Name()
			rig.Check(t, made == c.Name, "%q makes the command %q", c.Name, made)
			if root := newRootCmd(newFactory(nil, ui.Streams{}), c.Name); len(root.Commands()) != 1 {
				t.Errorf("%d commands are made for %q", len(root.Commands()), c.Name)
			}
		}
	}
}
