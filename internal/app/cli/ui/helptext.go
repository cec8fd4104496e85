package ui

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// helpWidth is the width of all help. In the texts of the commands, only paragraphs may be wider.
const helpWidth = 78

// Details begins the part of a command's text that its --help leaves out, and "nbs-worker help VERB" has.
const Details = "\n\nDetails:\n\n"

// usualFlags is the annotation of a command that names the flags of its --help.
const usualFlags = "usual flags"

// Usual returns the annotation of a command that says which flags its --help explains. It only names the others, which
// "nbs-worker help VERB" explains. Without the annotation all are explained.
func Usual(flags string) map[string]string { return map[string]string{usualFlags: flags} }

// PrintHelp prints the short help of a command, which fits on one screen: what --help prints.
func (f *Factory) PrintHelp(cmd *cobra.Command, _ []string) {
	fmt.Fprint(cmd.OutOrStdout(), filled(shortHelp(cmd)))
}

// PrintManual prints all that there is to say about a command: what "nbs-worker help VERB" prints.
func (f *Factory) PrintManual(cmd *cobra.Command) {
	cmd.InitDefaultHelpFlag()
	fmt.Fprint(cmd.OutOrStdout(), filled(manual(cmd)))
}

const moreOfAll = `

  nbs-worker COMMAND --help   what a command does, on one screen
  nbs-worker help NAME        the full help of a command, or a topic
  nbs-worker help             a line about each command; the common flags`

// isTopic reports whether a command is only a text.
func isTopic(cmd *cobra.Command) bool { return !cmd.Runnable() && !cmd.HasSubCommands() }

func manual(cmd *cobra.Command) string {
	text := cmp.Or(cmd.Long, cmd.Short)
	if isTopic(cmd) {
		return text
	}
	text += usage(cmd)
	if len(cmd.Aliases) > 0 {
		text += "\n\nAliases:\n  " + cmd.NameAndAliases()
	}
	text += section("Examples:", cmd.Example)
	if cmd.HasParent() {
		text += section("Commands:", described(cmd.Commands(), ""))
	}
	text += describedByGroup(cmd) + section("Flags:", cmd.LocalFlags().FlagUsagesWrapped(helpWidth))
	text += section("Common flags:", cmd.InheritedFlags().FlagUsagesWrapped(helpWidth))
	if !cmd.HasParent() {
		text += section("Help topics, as nbs-worker help TOPIC:", described(Topics(cmd), ""))
	}
	return text
}

func shortHelp(cmd *cobra.Command) string {
	whole := cmp.Or(cmd.Long, cmd.Short)
	if isTopic(cmd) {
		return whole
	}
	text, codes, _ := strings.Cut(whole, exitCodes)
	text, _, _ = strings.Cut(text, Details)
	text += usage(cmd) + section("Examples:", cmd.Example)
	if !cmd.HasParent() {
		return text + namesByGroup(cmd) + moreOfAll
	}
	explained, named := divided(cmd)
	text += section("Commands:", described(cmd.Commands(), "")) + section("Flags:", explained.FlagUsagesWrapped(helpWidth)) + "\n"
	if named != "" {
		text += "\n" + listed("More flags:", named)
	}
	text += "\n" + listed("Full help:", "nbs-worker help "+strings.TrimPrefix(cmd.CommandPath(), cmd.Root().Name()+" "))
	if codes != "" {
		text += "\n" + listed("Exit codes:", numbers(codes)+" (nbs-worker help exit-codes)")
	}
	return text + "\n" + listed("Common flags:", names(cmd.InheritedFlags())+" (nbs-worker help)")
}

// section is a titled part of a help text, or nothing.
func section(title, lines string) string {
	lines = strings.TrimRight(lines, " \n")
	if lines == "" {
		return ""
	}
	return "\n\n" + title + "\n" + lines
}

func usage(cmd *cobra.Command) string {
	const hang = "\n      "
	lines := "  " + strings.Join(wrapped(cmd.UseLine(), helpWidth+1-len(hang)), hang)
	if cmd.HasAvailableSubCommands() {
		lines += "\n  " + cmd.CommandPath() + " COMMAND"
	}
	return section("Usage:", lines)
}

// Topics returns the help topics of a command tree.
func Topics(root *cobra.Command) []*cobra.Command {
	return slices.DeleteFunc(slices.Clone(root.Commands()), func(cmd *cobra.Command) bool { return !isTopic(cmd) })
}

// described lists the commands of a group, one a line.
func described(commands []*cobra.Command, group string) string {
	var b strings.Builder
	for _, cmd := range commands {
		if cmd.GroupID == group && !cmd.Hidden {
			fmt.Fprintf(&b, "  %-13s %s\n", cmd.Name(), cmd.Short)
		}
	}
	return b.String()
}

func describedByGroup(root *cobra.Command) string {
	var b strings.Builder
	for _, group := range root.Groups() {
		b.WriteString(section(group.Title, described(root.Commands(), group.ID)))
	}
	return b.String()
}

// namesByGroup lists the verbs and the topics of the program by name alone.
func namesByGroup(root *cobra.Command) string {
	text := "\n"
	add := func(title string, commands []*cobra.Command, group string) {
		var all []string
		for _, cmd := range commands {
			if cmd.GroupID == group && !cmd.Hidden {
				all = append(all, cmd.Name())
			}
		}
		text += "\n" + listed(title, strings.Join(all, ", "))
	}
	for _, group := range root.Groups() {
		add(group.Title, root.Commands(), group.ID)
	}
	add("Help topics:", Topics(root), "")
	return text
}

// listed is a title with a list beside it, indented so that it stays as it is.
func listed(title, list string) string {
	const margin = 17
	return fmt.Sprintf("  %-*s", margin-2, title) + strings.Join(wrapped(list, helpWidth-margin), "\n"+strings.Repeat(" ", margin))
}

// divided returns the flags of a command that its short help explains, and names the others.
func divided(cmd *cobra.Command) (*pflag.FlagSet, string) {
	usual, chosen := cmd.Annotations[usualFlags]
	explained, named := pflag.NewFlagSet("", pflag.ContinueOnError), pflag.NewFlagSet("", pflag.ContinueOnError)
	cmd.LocalNonPersistentFlags().VisitAll(func(flag *pflag.Flag) {
		switch {
		case flag.Hidden || flag.Name == "help":
		case chosen && !slices.Contains(strings.Fields(usual), flag.Name):
			named.AddFlag(flag)
		default:
			explained.AddFlag(flag)
		}
	})
	return explained, names(named)
}

// names lists the flags that are not hidden.
func names(flags *pflag.FlagSet) string {
	var all []string
	flags.VisitAll(func(flag *pflag.Flag) {
		if !flag.Hidden {
			all = append(all, "--"+flag.Name)
		}
	})
	return strings.Join(all, ", ")
}

// numbers lists the exit codes of a table.
func numbers(table string) string {
	var all []string
	for line := range strings.Lines(table) {
		if fields := strings.Fields(line); len(fields) > 0 {
			all = append(all, fields[0])
		}
	}
	return strings.Join(all, ", ")
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
