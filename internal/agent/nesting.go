package agent

import (
	"bytes"

	"github.com/go-json-experiment/json/jsontext"
)

// nestingLimit is how deep a record may be nested; our own has four levels. An unknown
// field is indented when it is written again, and 5,000 brackets make 50 MB then.
const nestingLimit = 100

// tooDeep tells whether a JSON text is nested deeper than that. Few brackets, as in nearly
// all records, need no closer look.
func tooDeep(data []byte) bool {
	brackets := bytes.Count(data, []byte{'['}) + bytes.Count(data, []byte{'{'})
	return brackets > nestingLimit && nesting(data) > nestingLimit
}

// nesting is how deep a JSON text is nested, as far as it is one.
func nesting(data []byte) (deepest int) {
	text := jsontext.NewDecoder(bytes.NewReader(data), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	for {
		deepest = max(deepest, text.StackDepth())
		if _, err := text.ReadToken(); err != nil {
			return deepest
		}
	}
}
