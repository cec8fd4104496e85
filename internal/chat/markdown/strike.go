package markdown

import (
	"github.com/yuin/goldmark/ast"
	extension "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
)

// strike parses ~~struck~~ and ~struck~. It is also what the parser asks about the marks that it has collected.
type strike struct{}

// Trigger implements [parser.InlineParser].
func (strike) Trigger() []byte { return []byte{'~'} }

// Parse implements [parser.InlineParser]. It adds a mark; the parser pairs the marks at the end of the paragraph.
func (s strike) Parse(_ ast.Node, block text.Reader, pc parser.Context) ast.Node {
	before := block.PrecendingCharacter()
	line, segment := block.PeekLine()
	mark := parser.ScanDelimiter(line, before, 1, s)
	if mark == nil || mark.OriginalLength > 2 || before == '~' { // the rest of a longer row of ~ is text too
		return nil
	}
	mark.Segment = segment.WithStop(segment.Start + mark.OriginalLength)
	block.Advance(mark.OriginalLength)
	pc.PushDelimiter(mark)
	return mark
}

// IsDelimiter implements [parser.DelimiterProcessor].
func (strike) IsDelimiter(char byte) bool { return char == '~' }

// CanOpenCloser implements [parser.DelimiterProcessor].
func (strike) CanOpenCloser(opener, closer *parser.Delimiter) bool { return opener.Char == closer.Char }

// OnMatch implements [parser.DelimiterProcessor].
func (strike) OnMatch(int) ast.Node { return extension.NewStrikethrough() }
