package agent

import (
	"encoding/binary"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// Seal proves that the user, or a command of the user's, has written what a record runs. Only the user's key can
// create it, and that key is in no project.
type Seal struct {
	MAC string `json:"mac"` // HMAC-SHA-256 over all fields

	// Fields is an object with a short sum of each field. It shows what was changed, and proves nothing. It is kept
	// undecoded: it is seldom needed, and a list reads a thousand.
	Fields jsontext.Value `json:"fields"`
}

// Field is a named part of what a seal covers.
type Field struct{ Name, Value string }

// LaunchFields returns all fields that decide what a start of the agent runs, and where: its [Spec]. Observed data is
// left out, because a forged value starts the same agent. The one exception is the data about its process that has no
// mark on the process itself.
func (r *Record) LaunchFields() []Field {
	spec := reflect.ValueOf(&r.Spec).Elem()
	fields := make([]Field, 0, spec.NumField()+1)
	for field, value := range spec.Fields() {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		if later[name] && value.IsZero() {
			continue
		}
		text := value.String() // of a string, the most frequent kind
		if value.Kind() != reflect.String {
			text = sealValue(value.Interface())
		}
		fields = append(fields, Field{name, text})
	}
	return append(fields, Field{"process", r.Process.unmarked()})
}

// later are the fields that the first seals did not have.
var later = map[string]bool{"memory": true, "no_answers": true, "own_worktree": true, "fork_of": true, "settings": true, "budget": true}

// sealValue returns a field of a spec as text, so that no two values have the same text.
func sealValue(value any) string {
	switch value := value.(type) {
	case []string:
		return words(value...)
	case []PreviousSession:
		return words(Mapped(value, func(previous PreviousSession) string { return string(previous.SessionID) })...)
	case map[string]string:
		var all []string
		for _, name := range slices.Sorted(maps.Keys(value)) {
			all = append(all, name, value[name])
		}
		return words(all...)
	case RestartPolicy:
		return string(value.Policy)
	case OwnWorktree:
		return words(value.Path, value.Common, value.Branch, value.Base)
	default: // a number or a switch
		return fmt.Sprint(value)
	}
}

// unmarked returns what only the record shows of a start: the process that a person has handed over, the process
// below a wrapper, the socket of a tmux server that was chosen by path, and the job of a scheduler.
func (p *Process) unmarked() string {
	if p == nil {
		return ""
	}
	var parts []string
	if p.Adopted != nil {
		parts = append(parts, "adopted", p.Identified.String(), strconv.FormatInt(p.Adopted.RegisteredMS, 10))
	}
	if p.Wrapped != nil {
		parts = append(parts, "wrapped", p.Wrapped.String())
	}
	if p.Tmux.ByPath() {
		parts = append(parts, "socket", p.Tmux.Socket)
	}
	if p.Job != "" {
		parts = append(parts, "job", p.Job)
	}
	return words(parts...)
}

// words returns a list as text, so that no two lists have the same text.
func words(list ...string) string {
	var all []byte
	for _, word := range list {
		all = binary.AppendUvarint(all, uint64(len(word)))
		all = append(all, word...)
	}
	return string(all)
}
