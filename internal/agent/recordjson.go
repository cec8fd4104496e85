package agent

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"reflect"
	"slices"
	"strings"

	"nbs-worker/internal/human"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// source is the JSON from which a record was read. Fields that this version does not know survive a rewrite. They are
// searched for only then, because most commands read many records and write no record.
type source []byte

// plainRecord has the fields of a record without its methods.
type plainRecord Record

// lenient makes jsonv2 read like encoding/json, except for names in another case, in a third of the time: a list
// reads a thousand records.
var lenient = jsonv2.JoinOptions(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))

// ParseRecord parses the known fields of a record's file, and keeps the other fields unchanged. After an error, the
// record is empty.
func ParseRecord(data []byte, into *Record) error {
	*into = Record{}
	if tooDeep(data) {
		return fmt.Errorf("it is nested more than %d levels deep", nestingLimit)
	}
	var read struct {
		plainRecord

		Unknown jsontext.Value `json:",embed"`
	}
	if err := jsonv2.Unmarshal(data, &read, lenient); err != nil {
		return inWords(err)
	}
	if err := checkNames(read.Unknown); err != nil {
		return err
	}
	*into = Record(read.plainRecord)
	if into.Process != nil {
		into.PID = into.Process.PID // the outer pid is for people and old tools, and is not verified
	}
	into.source = slices.Clone(data)
	return nil
}

// inWords describes the fault in a file, without the names of our types.
func inWords(err error) error {
	if syntax, ok := errors.AsType[*jsontext.SyntacticError](err); ok {
		if errors.Is(err, io.ErrUnexpectedEOF) {
			return fmt.Errorf("it is cut off after %d bytes", syntax.ByteOffset)
		}
		return fmt.Errorf("it is not valid JSON at byte %d", syntax.ByteOffset)
	}
	if meaning, ok := errors.AsType[*jsonv2.SemanticError](err); ok && meaning.JSONPointer != "" {
		return fmt.Errorf("the field %s has a value of the wrong type", human.Quote(strings.TrimPrefix(string(meaning.JSONPointer), "/")))
	}
	return errors.New("it is not a record")
}

// checkNames refuses a field whose name differs from one of ours only in case: some readers would take it for ours.
func checkNames(unknown jsontext.Value) error {
	if len(unknown) == 0 {
		return nil
	}
	var others map[string]json.RawMessage
	if err := json.Unmarshal(unknown, &others); err != nil {
		return err
	}
	for known := range fieldNames(plainRecord{}) {
		for name := range others {
			if strings.EqualFold(name, known) {
				return fmt.Errorf("the field %s differs from %s only in case", human.Quote(name), known)
			}
		}
	}
	return nil
}

// UnmarshalJSON calls [ParseRecord].
func (r *Record) UnmarshalJSON(data []byte) error { return ParseRecord(data, r) }

// writtenRecord is a record with its restart and process encoded, including their unknown fields.
type writtenRecord struct {
	plainRecord

	Restart json.RawMessage `json:"restart"`
	Process json.RawMessage `json:"process,omitempty"`
}

// MarshalJSON writes the known fields in order, then the unknown ones; also within restart and process. The unknown
// fields of one start are not written for another.
func (r Record) MarshalJSON() (text []byte, err error) {
	before := map[string]json.RawMessage{}
	if r.source != nil {
		if err := json.Unmarshal(r.source, &before); err != nil {
			return nil, err
		}
	}
	written := writtenRecord{plainRecord: plainRecord(r)}
	if written.Restart, err = encodeKeeping(r.Restart, before["restart"]); err != nil {
		return nil, err
	}
	if r.Process != nil {
		var start Process
		_ = jsonv2.Unmarshal(before["process"], &start, lenient) // it was read before, or does not exist
		if start.Invocation != r.Process.Invocation {
			before["process"] = nil
		}
		if written.Process, err = encodeKeeping(r.Process, before["process"]); err != nil {
			return nil, err
		}
	}
	return encodeKeeping(written, r.source)
}

// encodeKeeping encodes the fields of a struct, and then those fields of its source that the struct does not have.
func encodeKeeping(value any, from []byte) ([]byte, error) {
	known, err := json.Marshal(value)
	if err != nil || from == nil {
		return known, err
	}
	unknown := map[string]json.RawMessage{}
	if err := json.Unmarshal(from, &unknown); err != nil {
		return nil, err
	}
	fields := fieldNames(value)
	maps.DeleteFunc(unknown, func(name string, _ json.RawMessage) bool { return fields[name] })
	if len(unknown) == 0 {
		return known, nil
	}
	others, err := json.Marshal(unknown)
	if err != nil {
		return nil, err
	}
	return append(append(known[:len(known)-1], ','), others[1:]...), nil
}

// fieldNames returns the names under which a struct's fields are read.
func fieldNames(value any) map[string]bool {
	names := map[string]bool{}
	for _, field := range reflect.VisibleFields(reflect.Indirect(reflect.ValueOf(value)).Type()) {
		if name, _, _ := strings.Cut(field.Tag.Get("json"), ","); name != "" {
			names[name] = true
		}
	}
	return names
}
