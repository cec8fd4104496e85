package agent

import (
	"encoding/json"
	"maps"
	"reflect"
	"strings"
)

// unknownFields are top-level fields of a record that this version does not
// know. They survive a rewrite.
type unknownFields map[string]json.RawMessage

// plainRecord has the fields of Record and none of its methods.
type plainRecord Record

// UnmarshalJSON reads the known fields and keeps the others as they are.
func (r *Record) UnmarshalJSON(data []byte) error {
	var plain plainRecord
	if err := json.Unmarshal(data, &plain); err != nil {
		return err
	}
	if err := json.Unmarshal(data, &plain.unknown); err != nil {
		return err
	}
	maps.DeleteFunc(plain.unknown, func(name string, _ json.RawMessage) bool { return knownField(name) })
	*r = Record(plain)
	return nil
}

// MarshalJSON writes the known fields in their order, then the unknown ones.
func (r Record) MarshalJSON() ([]byte, error) {
	known, err := json.Marshal(plainRecord(r))
	if err != nil || len(r.unknown) == 0 {
		return known, err
	}
	unknown, err := json.Marshal(r.unknown)
	if err != nil {
		return nil, err
	}
	return append(append(known[:len(known)-1], ','), unknown[1:]...), nil
}

// knownField tells whether encoding/json would fill a field of Record from the
// name; it ignores case, and so must this.
func knownField(name string) bool {
	for field := range reflect.TypeFor[plainRecord]().Fields() {
		tag, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		if tag != "" && strings.EqualFold(tag, name) {
			return true
		}
	}
	return false
}
