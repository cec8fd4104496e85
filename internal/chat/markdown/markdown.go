// Package markdown parses Claude's Markdown for the chat systems.
//
// The parser of the package goldmark does what CommonMark has. What GitHub has besides is here, since goldmark's own
// extensions compile regular expressions before main: each start of our program would wait for them.
package markdown

import (
	"reflect"
	"slices"
	"sync"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// Parse parses Markdown as GitHub has it, but for two things. A definition of a link is text, since it is not seen: a
// line of a log that looks like one would be lost. And no line is made a heading by the dashes below it: the parser
// would put the line behind a table that is between the two.
func Parse(source []byte) ast.Node { return all().Parse(text.NewReader(source)) }

// ParseWithoutHTML is Parse, but HTML is text like any other.
func ParseWithoutHTML(source []byte) ast.Node { return withoutHTML().Parse(text.NewReader(source)) }

var (
	all         = sync.OnceValue(func() parser.Parser { return without(parser.NewSetextHeadingParser()) })
	withoutHTML = sync.OnceValue(func() parser.Parser {
		return without(parser.NewSetextHeadingParser(), parser.NewHTMLBlockParser(), parser.NewRawHTMLParser())
	})
)

// without returns a parser that does not use some of the usual ones.
func without(unused ...any) parser.Parser {
	used := func(parsers []util.PrioritizedValue) []util.PrioritizedValue {
		return slices.DeleteFunc(parsers, func(p util.PrioritizedValue) bool {
			return slices.ContainsFunc(unused, func(other any) bool { return reflect.TypeOf(other) == reflect.TypeOf(p.Value) })
		})
	}
	return parser.NewParser(
		parser.WithBlockParsers(used(parser.DefaultBlockParsers())...),
		parser.WithInlineParsers(append(used(parser.DefaultInlineParsers()),
			util.Prioritized(task{}, 0),
			util.Prioritized(strike{}, 500),
			util.Prioritized(address{}, 999), // so that a URL keeps its underscores
		)...),
		parser.WithParagraphTransformers(util.Prioritized(tables{}, 200)),
		parser.WithASTTransformers(util.Prioritized(codeInCells{}, 0)),
	)
}
