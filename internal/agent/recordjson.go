package agent

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"

	"nbs-worker/internal/human"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// file is a record as its file has it: with the fields that this version does not know, which survive a rewrite.
type file struct {
	plainRecord

	Restart struct {
		RestartPolicy

		Unknown jsontext.Value `json:",embed"`
	} `json:"restart"`
	Process *processFile   `json:"process,omitempty"`
	Unknown jsontext.Value `json:",embed"`
}

type processFile struct {
	Process

	Unknown jsontext.Value `json:",embed"`
}

// plainRecord has the fields of a record without its methods.
type plainRecord Record

// lenient makes jsonv2 read like encoding/json, except for names in another case, in a third of the time: a list
// reads a thousand records. written makes it write like encoding/json too.
var (
	lenient = jsonv2.JoinOptions(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	written = jsonv2.JoinOptions(lenient, jsontext.PreserveRawStrings(true), jsonv2.Deterministic(true), jsonv2.FormatNilSliceAsNull(true), jsonv2.FormatNilMapAsNull(true))
)

// ParseRecord parses the known fields of a record's file, and keeps the other fields unchanged. After an error, the
// record is empty.
func ParseRecord(data []byte, into *Record) error {
	*into = Record{}
	if tooDeep(data) {
		return fmt.Errorf("it is nested more than %d levels deep", nestingLimit)
	}
	var read file
	if err := jsonv2.Unmarshal(data, &read, lenient); err != nil {
		return inWords(err)
	}
	if err := checkNames(read.Unknown); err != nil {
		return err
	}
	*into = Record(read.plainRecord)
	into.Restart, into.source = read.Restart.RestartPolicy, &read
	if read.Process != nil {
		into.Process = new(read.Process.Process)
		into.PID = into.Process.PID // the outer pid is for people and old tools, and is not verified
	}
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

// MarshalJSON writes the known fields in order, then the unknown ones; also within restart and process. The unknown
// fields of one start are not written for another.
func (r Record) MarshalJSON() ([]byte, error) {
	out := file{plainRecord: plainRecord(r)}
	out.Restart.RestartPolicy = r.Restart
	if r.Process != nil {
		out.Process = &processFile{Process: *r.Process}
	}
	if before := r.source; before != nil {
		out.Unknown, out.Restart.Unknown = before.Unknown, before.Restart.Unknown
		if r.Process != nil && before.Process != nil && before.Process.Invocation == r.Process.Invocation {
			out.Process.Unknown = before.Process.Unknown
		}
	}
	return jsonv2.Marshal(&out, written)
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
