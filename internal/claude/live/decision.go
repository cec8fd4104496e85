package live

import (
	"bytes"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Decision is the answer of a PermissionRequest hook, beside which Claude shows its dialog.
type Decision struct {
	Allow   bool
	Message string         // of a refusal: the model gets it as the tool's result
	Input   jsontext.Value // of a permission: it replaces the tool's input. A question is open until it has "answers"
	Rules   jsontext.Value // of a permission: an array of Claude's own suggestions, which hold from now on
}

// For returns the answer to a request for a tool. Newer versions of Claude take the permission of a plan only with an
// input, and leave the dialog otherwise.
func (d Decision) For(tool string, input []byte) Decision {
	if d.Allow && len(d.Input) == 0 && tool == exitPlanMode {
		d.Input = input
	}
	return d
}

// refused is the message of a refusal without one: Claude shows no reason then, and the model gets none.
const refused = "The user does not want this tool call."

// JSON returns the document that Claude reads from the hook. Errors: what the answer holds is not JSON.
func (d Decision) JSON() (string, error) {
	type decision struct {
		Behavior string         `json:"behavior"`
		Message  string         `json:"message,omitempty"`
		Input    jsontext.Value `json:"updatedInput,omitzero"` // {} is one
		Rules    jsontext.Value `json:"updatedPermissions,omitzero"`
	}
	said := decision{Behavior: "allow", Input: d.Input, Rules: d.Rules}
	if !d.Allow {
		said = decision{Behavior: "deny", Message: d.Message}
		if said.Message == "" {
			said.Message = refused
		}
	}
	var document struct {
		Output struct {
			Event    string   `json:"hookEventName"`
			Decision decision `json:"decision"`
		} `json:"hookSpecificOutput"`
	}
	document.Output.Event, document.Output.Decision = permissionRequest, said
	text, err := json.Marshal(document)
	return string(text), err
}

const (
	permissionRequest = "PermissionRequest"
	askUserQuestion   = "AskUserQuestion"
	exitPlanMode      = "ExitPlanMode"
)

// Asks reports whether the hook is about a tool call that a dialog asks a person for.
func (h Hook) Asks() bool { return h.Event == permissionRequest && h.Tool != "" }

// ToolEnded reports whether the hook is about the end of a tool call.
func (h Hook) ToolEnded() bool { return h.Event == "PostToolUse" || h.Event == "PostToolUseFailure" }

// Ends reports whether the hook says that a tool call, which a dialog has asked for, has ended: a person has permitted
// it. Claude names no id in the request, so the call is recognised by its input. Of a question only the questions
// count: its input then has the answers too.
func (h Hook) Ends(tool string, input []byte) bool {
	return h.ToolEnded() && h.Tool == tool && bytes.Equal(asked(tool, h.Input), asked(tool, input))
}

// asked returns the part of a tool's input that identifies the call, in one form.
func asked(tool string, input []byte) []byte {
	value := jsontext.Value(bytes.Clone(input))
	if tool == askUserQuestion {
		var question struct {
			Questions jsontext.Value `json:"questions"`
		}
		if unmarshal(value, &question) == nil {
			value = question.Questions
		}
	}
	if value.Canonicalize() != nil {
		return input
	}
	return value
}
