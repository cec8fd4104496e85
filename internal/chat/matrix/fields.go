package matrix

import (
	"bytes"
	"encoding/json"
	"strings"
)

// exact returns a JSON object without the fields that are written in other letters than those that Matrix has: the decoder
// takes "ſender" for "sender", and a foreign homeserver may add any field to its events.
func exact(data []byte) []byte {
	var object any
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	if decoder.Decode(&object) != nil {
		return data
	}
	kept, err := marshal(onlyExact(object))
	if err != nil {
		return data
	}
	return kept
}

func onlyExact(value any) any {
	switch value := value.(type) {
	case map[string]any:
		for name, of := range value {
			if strings.ContainsFunc(name, func(r rune) bool { return r >= 'A' && r <= 'Z' || r > '~' }) {
				delete(value, name)
			} else {
				value[name] = onlyExact(of)
			}
		}
	case []any:
		for i := range value {
			value[i] = onlyExact(value[i])
		}
	}
	return value
}
