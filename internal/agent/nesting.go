package agent

import (
	"bytes"

	"github.com/go-json-experiment/json/jsontext"
)

// nestingLimit is the deepest allowed nesting of a record; our own have four levels. A rewrite indents unknown
// fields, and would turn 5,000 nested brackets into 50 MB.
const nestingLimit = 100

// tooDeep reports whether a JSON text is nested deeper than nestingLimit. A text with no more brackets than that is
// not parsed; nearly all records are such texts.
func tooDeep(data []byte) bool {
	brackets := bytes.Count(data, []byte{'['}) + bytes.Count(data, []byte{'{'})
	return brackets > nestingLimit && nesting(data) > nestingLimit
}

// nesting returns the depth of a JSON text, up to its first syntax error.
func nesting(data []byte) (deepest int) {
	text := jsontext.NewDecoder(bytes.NewReader(data), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	for {
		deepest = max(deepest, text.StackDepth())
		if _, err := text.ReadToken(); err != nil {
			return deepest
		}
	}
}
