package agent

import (
	"bytes"

	"github.com/go-json-experiment/json/jsontext"
)

// nestingLimit is how deep a record may be nested; our own have four levels. A rewrite
// indents unknown fields, and would make 50 MB of 5,000 nested brackets.
const nestingLimit = 100

// tooDeep reports whether a JSON text is nested deeper than nestingLimit. A text with no more
// brackets than that, as in nearly all records, is not parsed.
func tooDeep(data []byte) bool {
	brackets := bytes.Count(data, []byte{'['}) + bytes.Count(data, []byte{'{'})
	return brackets > nestingLimit && nesting(data) > nestingLimit
}

// nesting returns how deep a JSON text is nested, up to its first syntax error.
func nesting(data []byte) (deepest int) {
	text := jsontext.NewDecoder(bytes.NewReader(data), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	for {
		deepest = max(deepest, text.StackDepth())
		if _, err := text.ReadToken(); err != nil {
			return deepest
		}
	}
}
