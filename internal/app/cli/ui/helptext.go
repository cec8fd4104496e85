package ui

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// helpWidth is the width of all help. In the texts of the commands, only paragraphs may be wider.
const helpWidth = 78

// PrintHelp prints the help of a command.
func (f *Factory) PrintHelp(cmd *cobra.Command, _ []string) {
	help := cmp.Or(cmd.Long, cmd.Short)
	if cmd.Runnable() || cmd.HasSubCommands() {
		hang := "\n      "
		usage := strings.Replace(cmd.UsageString(), cmd.UseLine(), strings.Join(wrapped(cmd.UseLine(), helpWidth+1-len(hang)), hang), 1)
		for _, flags := range []*pflag.FlagSet{cmd.LocalFlags(), cmd.InheritedFlags()} {
			if asIs := strings.TrimRight(flags.FlagUsages(), " \n"); asIs != "" {
				usage = strings.Replace(usage, asIs, strings.TrimRight(flags.FlagUsagesWrapped(helpWidth), " \n"), 1)
			}
		}
		help += "\n\n" + usage
	}
	fmt.Fprint(cmd.OutOrStdout(), filled(help))
}

// filled wraps the paragraphs of a text, and ends it with one line break. Indented lines do not change.
func filled(text string) string {
	var out []string
	paragraph := ""
	for line := range strings.SplitSeq(strings.TrimRight(text, "\n")+"\n", "\n") {
		if line != "" && line[0] != ' ' && line[0] != '\t' {
			paragraph = strings.TrimPrefix(paragraph+" "+line, " ")
			continue
		}
		if paragraph != "" {
			out = append(out, wrapped(paragraph, helpWidth)...)
		}
		paragraph, out = "", append(out, line)
	}
	return strings.Join(out, "\n")
}
