package conversations

import (
	"strings"

	"nbs-worker/internal/agent"
)

// Rights say what Claude may do in a turn, which has no person to ask. Zero: what the user's own settings say.
type Rights struct {
	PermissionMode agent.PermissionMode `json:"permission_mode,omitempty"`
	AllowedTools   agent.ToolRules      `json:"allowed_tools,omitempty"`
}

// ParseRights checks a permission mode and rules that permit tools; both may be empty. Errors: BadInput.
func ParseRights(mode string, rules ...string) (r Rights, err error) {
	if mode != "" {
		if r.PermissionMode, err = agent.ParsePermissionMode(mode); err != nil {
			return Rights{}, err
		}
	}
	if r.PermissionMode == "manual" { // the same mode, by the name that older versions know
		r.PermissionMode = "default"
	}
	r.AllowedTools, err = agent.ParseToolRules(rules...)
	return r, err
}

// String describes the rights for a person.
func (r Rights) String() string {
	var words []string
	if r.PermissionMode != "" {
		words = append(words, string(r.PermissionMode))
	}
	if r.AllowedTools != "" {
		words = append(words, "allowed tools "+strings.Join(r.AllowedTools.List(), ", "))
	}
	if len(words) == 0 {
		return "as Claude's settings say"
	}
	return strings.Join(words, "; ")
}
