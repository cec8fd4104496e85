package matrix

import (
	"github.com/yuin/goldmark/ast"
	extast "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/util"
)

// githubNodes writes what GitHub's Markdown has besides CommonMark's. Cells are not aligned: clients drop the attribute.
type githubNodes struct{}

// RegisterFuncs implements [renderer.NodeRenderer].
func (githubNodes) RegisterFuncs(r renderer.NodeRendererFuncRegisterer) {
	around := func(kind ast.NodeKind, tags func(ast.Node) (begin, end string)) {
		r.Register(kind, func(w util.BufWriter, _ []byte, node ast.Node, entering bool) (ast.WalkStatus, error) {
			begin, end := tags(node)
			if !entering {
				begin = end
			}
			_, _ = w.WriteString(begin)
			return ast.WalkContinue, nil
		})
	}
	around(extast.KindStrikethrough, func(ast.Node) (begin, end string) { return "<del>", "</del>" })
	around(extast.KindTable, func(ast.Node) (begin, end string) { return "<table>\n", "</table>\n" })
	around(extast.KindTableHeader, headerTags)
	around(extast.KindTableRow, rowTags)
	around(extast.KindTableCell, func(cell ast.Node) (begin, end string) {
		if cell.Parent().Kind() == extast.KindTableHeader {
			return "<th>", "</th>\n"
		}
		return "<td>", "</td>\n"
	})
}

// headerTags also begins the body, if there is one.
func headerTags(header ast.Node) (begin, end string) {
	begin, end = "<thead>\n<tr>\n", "</tr>\n</thead>\n"
	if header.NextSibling() != nil {
		end += "<tbody>\n"
	}
	return begin, end
}

// rowTags also ends the body, if the row is the last one.
func rowTags(row ast.Node) (begin, end string) {
	begin, end = "<tr>\n", "</tr>\n"
	if row.NextSibling() == nil {
		end += "</tbody>\n"
	}
	return begin, end
}
