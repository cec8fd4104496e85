package turn

import "encoding/json"

// telling are the fields of a tool's input that say most of what it is used for, the best first.
var telling = []string{"command", "file_path", "notebook_path", "pattern", "url", "query", "description", "skill", "path"}

// purpose returns the most telling field of a tool's input; "" without one.
func purpose(input json.RawMessage) string {
	var fields map[string]any
	_ = json.Unmarshal(input, &fields) // another form has no such field
	for _, name := range telling {
		if text, is := fields[name].(string); is && text != "" {
			return text
		}
	}
	return ""
}
