package markdown

import (
	"bytes"
	"strings"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// address parses a URL and an e-mail address that stand in the text without brackets.
type address struct{}

// before are the characters that an address may follow. The parser takes a space for each white space, and for the
// beginning of a line.
const before = " *_~("

// Trigger implements [parser.InlineParser].
func (address) Trigger() []byte { return []byte(before) }

// Parse implements [parser.InlineParser].
func (address) Parse(parent ast.Node, block text.Reader, pc parser.Context) ast.Node {
	if pc.IsInLinkLabel() { // a link contains no other
		return nil
	}
	line, segment := block.PeekLine()
	skipped := 0
	if strings.IndexByte(before, line[0]) >= 0 {
		skipped = 1
	}
	kind, line := ast.AutoLinkURL, line[skipped:]
	length, isWWW := urlPrefix(line)
	if length == 0 {
		kind, length = ast.AutoLinkEmail, emailPrefix(line)
	}
	if length == 0 {
		return nil
	}
	if skipped > 0 {
		ast.MergeOrAppendTextSegment(parent, segment.WithStop(segment.Start+skipped))
	}
	block.Advance(skipped + length)
	start := segment.Start + skipped
	link := ast.NewAutoLink(kind, ast.NewTextSegment(text.NewSegment(start, start+length)))
	if isWWW {
		link.Protocol = []byte("http")
	}
	return link
}

// urlPrefix returns how much of a line is a URL at its beginning, and whether it is one without a protocol.
func urlPrefix(line []byte) (length int, isWWW bool) {
	for _, begin := range []string{"http://", "https://", "ftp://", "www."} {
		if !bytes.HasPrefix(line, []byte(begin)) {
			continue
		}
		host := hostPrefix(line[len(begin):])
		if host == 0 {
			return 0, false
		}
		length = len(begin) + host
		length += portPrefix(line[length:])
		if length < len(line) && strings.IndexByte("/#?", line[length]) >= 0 {
			length += prefix(line[length:], isInPath)
		}
		return len(withoutEnd(line[:length])), begin == "www."
	}
	return 0, false
}

// hostPrefix returns how much of a text is a host, with a user and a password before it. A host ends with a dot and
// small letters.
func hostPrefix(rest []byte) int {
	const longest = 256 // else the time for a long text of beginnings of URLs would grow with its square
	run := prefix(rest[:min(len(rest), longest+1)], isInHost)
	for dot := run - 1; dot > 0; dot-- {
		if rest[dot] != '.' {
			continue
		}
		if top := prefix(rest[dot+1:], isSmall); top > 0 {
			return dot + 1 + top
		}
	}
	return 0
}

// portPrefix returns how much of a text is a port, with its colon.
func portPrefix(rest []byte) int {
	if len(rest) == 0 || rest[0] != ':' {
		return 0
	}
	if digits := prefix(rest[1:], util.IsNumeric); digits > 0 {
		return 1 + digits
	}
	return 0
}

// emailPrefix returns how much of a line is an e-mail address at its beginning.
func emailPrefix(line []byte) int {
	if len(line) == 0 || util.IsPunct(line[0]) {
		return 0
	}
	end := util.FindEmailIndex(line)
	if end < 0 || !bytes.Contains(line[bytes.IndexByte(line, '@'):end], []byte(".")) {
		return 0
	}
	if end < len(line) && (line[end] == '-' || line[end] == '_') { // a host does not end like this
		return 0
	}
	return end
}

// withoutEnd returns a URL without the punctuation that belongs to the sentence around it.
func withoutEnd(url []byte) []byte {
	unopened := bytes.Count(url, []byte(")")) - bytes.Count(url, []byte("("))
	for {
		last := len(url) - 1
		switch end := url[last]; {
		case strings.IndexByte("?!.,:*_~", end) >= 0:
			url = url[:last]
		case end == ')' && unopened > 0:
			url = url[:last]
			unopened--
		case end == ';': // of a character reference, such as &gt;
			begin := last
			for util.IsAlphaNumeric(url[begin-1]) {
				begin--
			}
			if begin == last || url[begin-1] != '&' {
				return url
			}
			url = url[:begin-1]
		default:
			return url
		}
	}
}

// prefix returns how many characters at the beginning of a text are of a kind.
func prefix(rest []byte, is func(byte) bool) int {
	for i, c := range rest {
		if !is(c) {
			return i
		}
	}
	return len(rest)
}

func isSmall(c byte) bool { return 'a' <= c && c <= 'z' }

func isInHost(c byte) bool { return util.IsAlphaNumeric(c) || strings.IndexByte("-@:%._+~#=", c) >= 0 }

func isInPath(c byte) bool { return isInHost(c) || strings.IndexByte("$!?&/();,'\">^{}[]`", c) >= 0 }
