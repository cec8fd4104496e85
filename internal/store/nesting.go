package store

import "bytes"

// nestingLimit is how deep a record may be nested; our own has four levels. An unknown
// field is indented when it is written again, and 5,000 brackets make 50 MB then.
const nestingLimit = 100

// tooDeep tells whether a JSON text is nested deeper than that. Few brackets, as in nearly
// all records, need no closer look.
func tooDeep(data []byte) bool {
	brackets := bytes.Count(data, []byte{'['}) + bytes.Count(data, []byte{'{'})
	return brackets > nestingLimit && nesting(data) > nestingLimit
}

// nesting is how deep the brackets of a JSON text are nested.
func nesting(data []byte) int {
	deepest, depth, inString := 0, 0, false
	for i := 0; i < len(data); i++ {
		switch c := data[i]; {
		case inString && c == '\\':
			i++
		case c == '"':
			inString = !inString
		case inString:
		case c == '{' || c == '[':
			depth++
			deepest = max(deepest, depth)
		case c == '}' || c == ']':
			depth--
		}
	}
	return deepest
}
