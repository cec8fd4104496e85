package hosts

import (
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"nbs-worker/internal/app/cli/ui"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/host"
	"nbs-worker/internal/sim/rig"
	"nbs-worker/internal/team/caller"
)

// tree is a command tree with the forms that the verbs have.
func tree(...string) *cobra.Command {
	root := &cobra.Command{Use: "nbs-worker"}
	root.PersistentFlags().String("host", "", "")
	root.PersistentFlags().Bool("hosts", false, "")
	for _, use := range []string{
		"stop {<handle>... | @GROUP... | --all}", "send {<handle>... | @GROUP... | --all} {TEXT | - | --file FILE}",
		"spawn <handle> [PROMPT] [flags] [-- CLAUDE-ARGS...]", "ask <key> [TEXT | -] [-- CLAUDE-ARGS...]", "rename <handle> <new handle>", "version",
	} {
		cmd := &cobra.Command{Use: use, Run: func(*cobra.Command, []string) {}}
		cmd.Flags().Bool("all", false, "")
		cmd.Flags().String("note", "", "")
		cmd.Flags().String("file", "", "")
		root.AddCommand(cmd)
	}
	return root
}

func TestTheWordsOfEachHost(t *testing.T) {
	t.Parallel()
	known := host.Hosts{{Name: "build1"}, {Name: "build2"}}
	for line, want := range map[string]string{
		"stop alice":                              ": stop alice",
		"stop alice@build1":                       "build1: stop alice",
		"stop @team@build1":                       "build1: stop @team",
		"stop @team":                              ": stop @team",
		"--host build1 stop alice bob":            "build1: stop alice bob",
		"stop --host=build2 --all":                "build2: stop --all",
		"stop a b@build1 c@build2 d@build1":       ": stop a | build1: stop b d | build2: stop c",
		"stop stop@build1 --note x":               "build1: stop stop --note x",
		"stop stop a@build1":                      ": stop stop | build1: stop a",
		"send alice@build1 mail@example":          "build1: send alice mail@example",
		"send alice mail@build1":                  ": send alice mail@build1",
		"send a@build1 b@build1 --file x@y":       "build1: send a b --file x@y",
		"spawn alice@build1 me@build2 -- -x a@b":  "build1: spawn alice me@build2 -- -x a@b",
		"spawn --host build1 alice -- --host=b":   "build1: spawn alice -- --host=b",
		"ask telegram:7@build1 hello":             "build1: ask telegram:7 hello",
		"ask mail:me@example.org hello":           ": ask mail:me@example.org hello",
		"rename alice@build1 bob":                 "build1: rename alice bob",
		"version --host build1":                   "build1: version",
		"stop alice@build1 --note alice@build1":   "build1: stop alice --note alice@build1",
		"stop alice@build9":                       `there is no host "build9"`,
		"--host build9 version":                   `there is no host "build9"`,
		"stop alice@":                             `: stop alice@`,
		"send --host build1 alice text@elsewhere": "build1: send alice text@elsewhere",
	} {
		args := strings.Fields(line)
		v := verbOf(&ui.Factory{Args: args, Tree: tree})
		rig.Check(t, v != nil, "%s: cannot be read", line)
		named, _ := v.cmd.Flags().GetString("host")
		var got []string
		if err := v.split(args, named, known); err != nil {
			got = append(got, err.Error())
		}
		for _, p := range v.at {
			got = append(got, p.host+": "+strings.Join(p.args, " "))
		}
		rig.Equal(t, strings.Join(got, " | "), want, "%s", line)
	}
}

func TestWhichLinesMayNameAHost(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]bool{"list": false, "stop @team": false, "stop a@b": true, "list --hosts": true, "--host b list": true} {
		rig.Equal(t, MayName(strings.Fields(line)), want, "%s", line)
	}
}

// The steps of a runbook have rights of their own, and may change anything.
func TestWhatGoesOnWithoutAReader(t *testing.T) {
	t.Parallel()
	powers := map[string]caller.Rule{
		"list": {Right: caller.Anyone}, "runbook list": {Right: caller.Anyone}, "runbook run": {Right: caller.Anyone}, "logs": {Right: caller.Member},
		"send": {Right: caller.Member}, "stop": {Right: caller.Within}, "next": {Right: caller.Manager}, "up": {Right: caller.Person},
	}
	for name, want := range map[string]bool{
		"list": false, "runbook list": false, "runbook run": true, "logs": false, "send": true, "stop": true, "next": false, "up": true,
	} {
		rig.Equal(t, (&verb{name: name}).keeps(powers), want, "%s", name)
	}
}

func TestTheCommandThatCompletesAMove(t *testing.T) {
	t.Parallel()
	own, far := place{word: here}, place{word: "build1"}
	rig.Equal(t, commandOf("alice", own, far, moveOptions{}), "nbs-worker move alice --to build1", "to a host")
	rig.Equal(t, commandOf("alice", far, own, moveOptions{noStart: true, trust: true}), "nbs-worker move alice@build1 --to here --no-start --trust", "back, to stay stopped")
}

// A move whose connection was cut says how it is completed, and not how one of its steps is asked after.
func TestACutMove(t *testing.T) {
	t.Parallel()
	const command = "nbs-worker move alice --to build1"
	step := fail.Errorf(fail.TimedOut, "build1 is unreachable; the command may go on there").Hint("to see what became of it: nbs-worker host result build1 ID").Hint("to see what is wrong: nbs-worker host check build1")
	err := unfinished(withoutStep(step), true, command)
	rig.Check(t, fail.KindOf(err) == fail.TimedOut && strings.HasSuffix(err.Error(), "; the move is not complete"), "%v", err)
	rig.Equal(t, strings.Join(fail.HintsOf(err), "; "), "to complete the move: "+command+"; to see what is wrong: nbs-worker host check build1", "hints")
	again := unfinished(err, true, command)
	rig.Equal(t, len(fail.HintsOf(again)), 2, "hints of one that says it already")
	rig.Equal(t, len(fail.HintsOf(unfinished(withoutStep(step), false, command))), 1, "hints before the agent was touched")
	rig.Equal(t, len(fail.HintsOf(unfinished(fail.Errorf(fail.Conflict, "it is busy"), true, command))), 0, "hints of a refusal")
}
