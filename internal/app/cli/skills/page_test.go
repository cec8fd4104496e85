package skills

import (
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"nbs-worker/internal/sim/rig"
	"nbs-worker/internal/team/caller"
)

// known is a program with two commands.
func known() (*cobra.Command, map[string]caller.Rule) {
	root := &cobra.Command{Use: "nbs-worker"}
	greet := &cobra.Command{Use: "greet", Short: "Greet a person whose name has as many letters as one likes", Run: func(*cobra.Command, []string) {}}
	greet.Flags().Bool("loudly", false, "so that all hear it, "+strings.Repeat("and again ", 8)+"all")
	bless := &cobra.Command{Use: "bless", Short: "Bless", Run: func(*cobra.Command, []string) {}}
	root.AddCommand(greet, bless)
	return root, map[string]caller.Rule{"greet": {Right: caller.Within}, "bless": {Right: caller.Manager}, "bless all": {Right: caller.Person}}
}

// Each command is explained once, by what its help says; so are flags, and who may do it.
func TestCommandsExplainThemselves(t *testing.T) {
	t.Parallel()
	root, powers := known()
	got, err := complete("Text {{verbs of a manager}}.\n\n```sh\nnbs-worker greet 'all who are there today, and all others'\nnbs-worker greet ann\n"+
		"nbs-worker greet bob # manage\nnbs-worker greet eve # again\nnbs-worker bless ann --help\n```\n\n{{flags greet loudly}}\n", root, powers)
	rig.Must(t, err)
	loudly := "- `--loudly`: so that all hear it, and again and again and again and again and again and again and\n  again and again all\n"
	rig.Equal(t, got, "Text `bless`.\n\n```sh\n# greet a person whose name has as many letters as one likes\n"+
		"nbs-worker greet 'all who are there today, and all others'\nnbs-worker greet ann\nnbs-worker greet bob # manage: greet a person whose name has as many letters as one likes\n"+
		"nbs-worker greet eve # again\nnbs-worker bless ann --help # manage: bless\n```\n\n"+loudly, "the page")
}

// A page that names what the program does not have is an error, and is never printed.
func TestAPageNamesOnlyWhatThereIs(t *testing.T) {
	t.Parallel()
	root, powers := known()
	for page, wrong := range map[string]string{
		"```sh\nnbs-worker curse ann\n```\n":          `"curse", which is no command`,
		"```sh\nnbs-worker greet ann --softly\n```\n": "--softly, which is no flag of greet",
		"```sh\nls\n```\n":                            `the command "ls"`,
		"{{flags curse loudly}}\n":                    `"curse", which is no command`,
		"{{flags greet softly}}\n":                    "--softly, which is no flag of greet",
		"{{flag greet loudly}}\n":                     `the place "flag greet loudly"`,
	} {
		_, err := complete(page, root, powers)
		rig.Check(t, err != nil && strings.Contains(err.Error(), wrong), "%q: %v", page, err)
	}
}
