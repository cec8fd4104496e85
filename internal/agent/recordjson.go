package agent

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"
)

// source is the JSON from which a value was read. The fields in it that this version
// does not know survive a rewrite; they are looked for only then, since most commands
// read many records and write none.
type source []byte

// plainRecord and plainRestart have the fields of their types and none of the methods.
type (
	plainRecord  Record
	plainRestart RestartPolicy
)

// ParseRecord reads the known fields of a record's file, which belongs to the record from
// then on, and keeps the others as they are.
func ParseRecord(data []byte) (Record, error) {
	var plain plainRecord
	if err := json.Unmarshal(data, &plain); err != nil {
		return Record{}, err
	}
	plain.source = data
	return Record(plain), nil
}

// UnmarshalJSON is [ParseRecord] of what the decoder will use again.
func (r *Record) UnmarshalJSON(data []byte) (err error) {
	*r, err = ParseRecord(slices.Clone(data))
	return err
}

// MarshalJSON writes the known fields in their order, then the unknown ones.
func (r Record) MarshalJSON() ([]byte, error) { return encodeKeeping(plainRecord(r), r.source) }

// UnmarshalJSON reads the known fields and keeps the others as they are.
func (p *RestartPolicy) UnmarshalJSON(data []byte) error {
	var plain plainRestart
	if err := json.Unmarshal(data, &plain); err != nil {
		return err
	}
	*p = RestartPolicy(plain)
	p.source = slices.Clone(data)
	return nil
}

// MarshalJSON writes the known fields in their order, then the unknown ones.
func (p RestartPolicy) MarshalJSON() ([]byte, error) {
	return encodeKeeping(plainRestart(p), p.source)
}

// encodeKeeping encodes the fields of value, and behind them those of its source that T
// does not have.
func encodeKeeping[T any](value T, from source) ([]byte, error) {
	known, err := json.Marshal(value)
	if err != nil || from == nil {
		return known, err
	}
	unknown := map[string]json.RawMessage{}
	if err := json.Unmarshal(from, &unknown); err != nil {
		return nil, err
	}
	maps.DeleteFunc(unknown, func(name string, _ json.RawMessage) bool { return knownField[T](name) })
	if len(unknown) == 0 {
		return known, nil
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
