package turn

import "encoding/json"

// purpose returns the value of a tool's input that says most of what it is used for; "" if none does.
func purpose(input json.RawMessage) string {
	var fields map[string]json.RawMessage
	if json.Unmarshal(input, &fields) != nil {
		return ""
	}
	for _, name := range []string{"command", "file_path", "notebook_path", "pattern", "url", "query", "description", "skill", "path"} {
		var text string
		if json.Unmarshal(fields[name], &text) == nil && text != "" {
			return text
		}
	}
	return ""
}
