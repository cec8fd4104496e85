package runbook

import (
	"io/fs"
	"slices"
	"strings"
	"testing"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"

	"nbs-worker/runbooks"
)

// shown are the fenced blocks that a reader of Markdown shows as such, each with its info string
// and its text. That reader is no part of the program: its tables would take half a millisecond of
// each command's start.
func shown(page string) []string {
	source := []byte(page)
	p := parser.NewParser(parser.WithBlockParsers(parser.DefaultBlockParsers()...), parser.WithInlineParsers(
		util.Prioritized(parser.NewCodeSpanParser(), 100)))
	var blocks []string
	document := p.Parse(text.NewReader(source))
	for n := document.FirstChild(); n != nil; n = n.NextSibling() {
		block, ok := n.(*ast.FencedCodeBlock)
		if !ok || block.Info == nil {
			continue
		}
		blocks = append(blocks, string(block.Info.Segment.Value(source))+"\n"+string(block.Lines().Value(source)))
	}
	return blocks
}

// executed are the steps of a page in the same form.
func executed(p *Page) []string {
	lines := strings.Split(p.Text, "\n")
	var blocks []string
	for _, step := range p.Steps {
		block := []string{strings.TrimSpace(strings.TrimLeft(lines[step.Line-1], "`"))}
		for _, command := range step.Commands {
			block = append(block, lines[command.Line-1])
		}
		blocks = append(blocks, strings.Join(block, "\n")+"\n")
	}
	return blocks
}

// checkShown fails where a page would run what a person who reads it does not see as a block.
func checkShown(t *testing.T, p *Page) {
	t.Helper()
	blocks := shown(p.Text)
	for _, block := range executed(p) {
		if !slices.Contains(blocks, block) {
			t.Errorf("%s executes %q, and shows %q", p.Name, block, blocks)
		}
	}
}

func TestPagesOfTheProgramShowWhatTheyExecute(t *testing.T) {
	t.Parallel()
	files, err := fs.Glob(runbooks.Pages, "*.md")
	if err != nil || len(files) < 2 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		data, err := fs.ReadFile(runbooks.Pages, file)
		if err != nil {
			t.Fatal(err)
		}
		p, err := Parse(strings.TrimSuffix(file, ".md"), string(data))
		if err != nil {
			t.Error(err)
			continue
		}
		checkShown(t, p)
		if p.Summary == "" || !slices.ContainsFunc(p.Steps, func(s Step) bool { return s.Check }) || !strings.Contains(p.Text, "\n## When it fails\n") {
			t.Errorf("%s lacks a summary, a check, or what to do when it fails", file)
		}
	}
}

// Whatever a page is, what is executed of it is what is shown, and nothing of it makes the reader
// fail.
func FuzzParse(f *testing.F) {
	f.Add(page)
	for _, seed := range []string{
		"# T\n\n- item\n```sh {step=a}\nnbs-worker list\n```\n",
		"# T\n\n> quote\n```sh {step=a}\nnbs-worker list\n  ```\n",
		"# T\n\n[a]:\n```sh {step=a}\nnbs-worker list\n```   \n",
		"# T\n\n```\nx\n```\t\n\t```\n```sh {step=a}\nnbs-worker list\n```\t \n",
		"# T\n```0`\n```\n```{step=0}\nnbs-worker 0\n```\n",
		"# T\n```\n````\n```sh {step=a}\nnbs-worker list\n```\n",
		"# T\n\n1. x\n\n   y\n```` {step=a}\nnbs-worker list\n`````\n",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		p, err := Parse("fuzz", text)
		if err != nil {
			return
		}
		checkShown(t, p)
		if _, err := p.Plan(map[string]string{}); err == nil && len(p.Steps) == 0 {
			t.Error("a page without steps")
		}
	})
}
