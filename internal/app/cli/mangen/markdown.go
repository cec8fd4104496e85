package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/spf13/cobra"

	"nbs-worker/internal/app/cli"
	"nbs-worker/internal/app/cli/ui"
)

// writeMarkdown writes a page for each verb, with its subcommands, and for each topic, and an index of them.
func writeMarkdown(dir string) error {
	root := cli.Tree()
	pages := map[string]string{"README": index(root)}
	for _, cmd := range root.Commands() {
		if !cmd.Hidden {
			pages[cmd.Name()] = linked(root, page(cmd, "#"))
		}
	}
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return err
	}
	for name, text := range pages {
		if err := os.WriteFile(filepath.Join(dir, name+".md"), []byte(blank.ReplaceAllString(text, "\n\n")), 0o644); err != nil { //nolint:gosec // a page for all
			return err
		}
	}
	return nil
}

// blank finds more than one empty line.
var blank = regexp.MustCompile(`\n{3,}`)

const generated = "<!-- Generated from the help by go generate ./internal/app/cli/mangen; do not edit. -->\n"

// index lists the pages.
func index(root *cobra.Command) string {
	var b strings.Builder
	b.WriteString(generated + "\n# nbs-worker\n\n" + markdown(joined(root.Long)) + "\n")
	list := func(title string, commands []*cobra.Command, group string) {
		fmt.Fprintf(&b, "\n## %s\n\n", title)
		for _, cmd := range commands {
			if cmd.GroupID == group && !cmd.Hidden {
				fmt.Fprintf(&b, "- [%s](%s.md): %s\n", cmd.Name(), cmd.Name(), escape.Replace(cmd.Short))
			}
		}
	}
	list("Topics", ui.Topics(root), "")
	for _, group := range root.Groups() {
		list(strings.TrimSuffix(group.Title, ":"), root.Commands(), group.ID)
	}
	b.WriteString("\n## Common flags\n\n" + block(root.PersistentFlags().FlagUsages()))
	return b.String()
}

// page is the page of a command, or the part of a subcommand in it.
func page(cmd *cobra.Command, level string) string {
	var b strings.Builder
	if level == "#" {
		b.WriteString(generated + "\n")
	}
	name := cmd.CommandPath()
	if !cmd.Runnable() {
		name = "nbs-worker help " + cmd.Name() // a topic
	}
	fmt.Fprintf(&b, "%s %s\n\n%s.\n\n", level, name, escape.Replace(cmd.Short))
	text := heading.ReplaceAllString(markdown(joined(cmd.Long)), "\n"+level+"# $1\n")
	b.WriteString(strings.TrimRight(text, "\n") + "\n")
	part := func(title, lines string) {
		if lines != "" {
			fmt.Fprintf(&b, "\n%s# %s\n\n%s", level, title, block(lines))
		}
	}
	if cmd.Runnable() {
		part("Usage", cmd.UseLine())
		part("Examples", cmd.Example)
		part("Flags", cmd.LocalFlags().FlagUsages())
	}
	for _, child := range cmd.Commands() {
		if !child.Hidden {
			b.WriteString("\n" + page(child, level+"#"))
		}
	}
	return b.String()
}

// heading finds the titles of the parts of a command's text.
var heading = regexp.MustCompile(`(?m)\n(Details|Exit codes):\n`)

// block is a text that is shown as it is.
func block(text string) string {
	var b strings.Builder
	for line := range strings.Lines(strings.TrimRight(text, "\n")) {
		b.WriteString("    " + strings.TrimPrefix(line, "  "))
	}
	return b.String() + "\n"
}

// linked makes links of the references to other pages, outside of blocks.
func linked(root *cobra.Command, text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(line, "    ") && line[0] != '#' && line[0] != '<' {
			line = reference.ReplaceAllStringFunc(line, func(found string) string {
				name := found[strings.LastIndexByte(found, ' ')+1:]
				if cmd, _, err := root.Find([]string{name}); err != nil || cmd == root || cmd.Hidden {
					return found
				}
				return "[" + found + "](" + name + ".md)"
			})
		}
		b.WriteString(line)
	}
	return b.String()
}

var reference = regexp.MustCompile(`(\bnbs-worker )?\bhelp [a-z]+(-[a-z]+)*`)

// joined puts each paragraph on one line. Indented lines do not change.
func joined(text string) string {
	var b strings.Builder
	before := "\n"
	for line := range strings.Lines(tabs.Replace(text)) {
		if line[0] != ' ' && line != "\n" && before[0] != ' ' && before != "\n" {
			b.WriteString(" ")
		} else if before != "\n" {
			b.WriteString("\n")
		}
		b.WriteString(strings.TrimRight(line, "\n"))
		if line == "\n" {
			b.WriteString("\n")
		}
		before = line
	}
	return b.String() + "\n"
}
