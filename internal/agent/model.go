package agent

import (
	"slices"
	"strings"
)

// Model is the name of a model as Claude Code takes it: an alias (opus,
// sonnet[1m]) or a full name of any provider. Empty leaves the choice to Claude.
type Model string

const modelLimit = 256

// modelAliases are the aliases of Claude Code 2.1. They serve only to notice a
// slip of the finger: a well-formed name that is not among them is passed on.
var modelAliases = []string{"sonnet", "opus", "haiku", "fable", "opusplan", "best", "default"}

// ModelAliases returns the known short names of models.
func ModelAliases() []string { return slices.Clone(modelAliases) }

// ParseModel checks a model's name. The empty name is valid. Errors: BadInput.
func ParseModel(s string) (Model, error) {
	if s == "" || len(s) <= modelLimit && isWord(s, "", "._:/@[]-") {
		return Model(s), nil
	}
	return "", Errorf(BadInput, "model %s is not valid: a name like opus, sonnet[1m] or claude-sonnet-5-5", Quote(s))
}

// Suggestion returns the alias from which the name is one slip away (a letter
// missing, added, wrong, or two exchanged), or "" when there is none.
func (m Model) Suggestion() Model {
	name, suffix := strings.ToLower(string(m)), ""
	if base, ok := strings.CutSuffix(name, "[1m]"); ok {
		name, suffix = base, "[1m]"
	}
	if slices.Contains(modelAliases, name) {
		return ""
	}
	for _, alias := range modelAliases {
		if oneSlip(name, alias) {
			return Model(alias + suffix)
		}
	}
	return ""
}
