package agent

import (
	"encoding/json"
	"maps"
	"reflect"
	"strings"
)

// unknownFields are fields of an object that this version does not know. They
// survive a rewrite.
type unknownFields map[string]json.RawMessage

// plainRecord and plainRestart have the fields of their types and none of the methods.
type (
	plainRecord  Record
	plainRestart RestartPolicy
)

// UnmarshalJSON reads the known fields and keeps the others as they are.
func (r *Record) UnmarshalJSON(data []byte) error {
	plain, unknown, err := decodeKeeping[plainRecord](data)
	if err != nil {
		return err
	}
	*r = Record(plain)
	r.unknown = unknown
	return nil
}

// MarshalJSON writes the known fields in their order, then the unknown ones.
func (r Record) MarshalJSON() ([]byte, error) { return encodeKeeping(plainRecord(r), r.unknown) }

// UnmarshalJSON reads the known fields and keeps the others as they are.
func (p *RestartPolicy) UnmarshalJSON(data []byte) error {
	plain, unknown, err := decodeKeeping[plainRestart](data)
	if err != nil {
		return err
	}
	*p = RestartPolicy(plain)
	p.unknown = unknown
	return nil
}

// MarshalJSON writes the known fields in their order, then the unknown ones.
func (p RestartPolicy) MarshalJSON() ([]byte, error) {
	return encodeKeeping(plainRestart(p), p.unknown)
}

func decodeKeeping[T any](data []byte) (value T, unknown unknownFields, err error) {
	if err := json.Unmarshal(data, &value); err != nil {
		return value, nil, err
	}
	if err := json.Unmarshal(data, &unknown); err != nil {
		return value, nil, err
	}
	maps.DeleteFunc(unknown, func(name string, _ json.RawMessage) bool { return knownField[T](name) })
	return value, unknown, nil
}

func encodeKeeping[T any](value T, unknown unknownFields) ([]byte, error) {
	known, err := json.Marshal(value)
	if err != nil || len(unknown) == 0 {
		return known, err
	}
	others, err := json.Marshal(unknown)
	if err != nil {
		return nil, err
	}
	return append(append(known[:len(known)-1], ','), others[1:]...), nil
}

// knownField tells whether encoding/json would fill a field of T from the name; it
// ignores case, and so must this.
func knownField[T any](name string) bool {
	for field := range reflect.TypeFor[T]().Fields() {
		tag, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		if tag != "" && strings.EqualFold(tag, name) {
			return true
		}
	}
	return false
}
