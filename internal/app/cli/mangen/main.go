// Mangen writes the help of all commands and topics into a folder, as man pages or, with md, as Markdown:
//
//	go run ./internal/app/cli/mangen man build/man
//	go run ./internal/app/cli/mangen md internal/app/cli/docs
//
// It is a separate program, so that nbs-worker does not contain the renderer. The month in the pages comes from
// SOURCE_DATE_EPOCH, as in all reproducible builds: the Makefile sets it to the time of the last commit.
package main

import (
	"fmt"
	"os"
	"regexp"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
	"github.com/spf13/pflag"

	"nbs-worker/internal/app/cli"
)

//go:generate go run . md ../docs

func main() {
	writers := map[string]func(dir string) error{"man": generate, "md": writeMarkdown}
	if len(os.Args) != 3 || writers[os.Args[1]] == nil {
		fmt.Fprintln(os.Stderr, "usage: mangen {man | md} FOLDER")
		os.Exit(4)
	}
	if err := writers[os.Args[1]](os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "mangen:", err)
		os.Exit(1)
	}
}

func generate(dir string) error {
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return err
	}
	root := cli.Tree()
	root.Long += "\n\nThe verbs, each with a page of its own:\n" + lines(root.Commands())
	prepare(root)
	return doc.GenManTree(root, &doc.GenManHeader{Section: "1", Manual: "nbs-worker"}, dir)
}

// lines lists the commands with their descriptions, one a line.
func lines(commands []*cobra.Command) string {
	var b strings.Builder
	for _, cmd := range commands {
		if !cmd.Hidden {
			fmt.Fprintf(&b, "  %-12s %s\n", cmd.Name(), cmd.Short)
		}
	}
	return b.String()
}

// prepare converts the texts, written for a terminal, for the renderer, which reads Markdown. It gives help topics a
// page too.
func prepare(cmd *cobra.Command) {
	cmd.DisableAutoGenTag = true // it would put the date into the page
	cmd.Use = escape.Replace(cmd.Use)
	cmd.Long = markdown(cmd.Long)
	for _, own := range []*pflag.FlagSet{cmd.LocalNonPersistentFlags(), cmd.PersistentFlags()} {
		own.VisitAll(func(flag *pflag.Flag) { flag.Usage = escape.Replace(flag.Usage) })
	}
	if cmd.IsAdditionalHelpTopicCommand() {
		cmd.DisableFlagsInUseLine = true
		cmd.Run = func(*cobra.Command, []string) {}
	}
	for _, child := range cmd.Commands() {
		prepare(child)
	}
}

var escape = strings.NewReplacer("<", `\<`, "*", `\*`, "_", `\_`, "[", `\[`)

// tabs stand before the commands in cobra's own texts.
var tabs = strings.NewReplacer("\n\t", "\n  ")

// step finds a numbered paragraph. In a list of Markdown's the lines of a block behind it would run together, and the numbers
// would begin again behind the block.
var step = regexp.MustCompile(`^(\d+)\. `)

// markdown converts indented lines to code blocks, and keeps <handle> and the like from being parsed as markup
// elsewhere.
func markdown(text string) string {
	var b strings.Builder
	inBlock := false
	for line := range strings.Lines(tabs.Replace(text)) {
		indented := strings.HasPrefix(line, "  ")
		if indented != inBlock {
			b.WriteString("\n")
		}
		inBlock = indented
		if indented {
			b.WriteString("    " + line[2:])
		} else {
			b.WriteString(step.ReplaceAllString(escape.Replace(line), `$1\. `))
		}
	}
	return b.String()
}
