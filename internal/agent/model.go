package agent

import (
	"slices"
	"strings"

	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
)

// Model is the name of a model for Claude Code: an alias (opus, sonnet[1m]) or a full name of any provider. Empty:
// Claude chooses.
type Model string

const modelLimit = 256

// modelAliases are the aliases of Claude Code 2.1. They serve only to detect a typing mistake: another well-formed
// name is passed on.
var modelAliases = []string{"sonnet", "opus", "haiku", "fable", "opusplan", "best", "default"}

// ModelAliases returns the known short names of models.
func ModelAliases() []string { return slices.Clone(modelAliases) }

// ParseModel checks the name of a model. The empty name is valid. Errors: BadInput.
func ParseModel(s string) (Model, error) {
	if s == "" || len(s) <= modelLimit && isWord(s, "", "._:/@[]-") {
		return Model(s), nil
	}
	return "", fail.Errorf(fail.BadInput, "model %s is not valid: use a name like opus, sonnet[1m] or claude-sonnet-5-5", human.Quote(s))
}

// Exactly is the prefix of a name that is correct although it looks like a typing mistake.
const Exactly = "exactly:"

// ChooseModel checks the name of a requested model. It refuses a name that is one slip away from a known one: an
// agent would start, and fail at its first turn. exactly:NAME is NAME, whatever it resembles. Errors: BadInput.
func ChooseModel(s string) (Model, error) {
	name, meant := strings.CutPrefix(s, Exactly)
	model, err := ParseModel(name)
	if near := model.Suggestion(); err == nil && !meant && near != "" {
		return "", fail.Errorf(fail.BadInput, "unknown model %s; did you mean %s? To use the name unchanged: %s", human.Quote(name), near, Exactly+name)
	}
	return model, err
}

// Suggestion returns the alias or full name that was probably meant, if it differs by one slip. A slip is a letter
// missing, added or wrong, or two letters exchanged. It returns "" if no known name is that close.
func (m Model) Suggestion() Model {
	name, suffix := strings.ToLower(string(m)), ""
	if base, ok := strings.CutSuffix(name, "[1m]"); ok {
		name, suffix = base, "[1m]"
	}
	if slices.Contains(modelAliases, name) {
		return ""
	}
	for _, alias := range modelAliases {
		if human.OneSlip(name, alias) {
			return Model(alias + suffix)
		}
	}
	const ours = "claude-"
	rest, isFull := strings.CutPrefix(name, ours)
	for word := range strings.SplitSeq(rest, "-") {
		if alias := slipOf(word); isFull && alias != "" {
			return Model(strings.Replace(name, word, alias, 1) + suffix)
		}
	}
	return ""
}

// families are the aliases that occur in full names.
var families = []string{"sonnet", "opus", "haiku", "fable"}

// slipOf returns the family that a word of a full name misspells by one slip. It returns "" for a correct word, and
// for a word that resembles no family.
func slipOf(word string) string {
	if slices.Contains(families, word) {
		return ""
	}
	for _, family := range families {
		if human.OneSlip(word, family) {
			return family
		}
	}
	return ""
}
