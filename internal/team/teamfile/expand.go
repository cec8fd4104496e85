package teamfile

import (
	"strings"

	"nbs-worker/internal/agent"
	"nbs-worker/internal/claude"
	"nbs-worker/internal/fail"
	"nbs-worker/internal/human"
)

// CheckVariable checks a variable of a team file, as it is written there. Errors: BadInput.
func CheckVariable(name, value string) error {
	if !agent.IsVariableName(name) {
		return fail.Errorf(fail.BadInput, "%s is not the name of a variable", human.Quote(name))
	}
	if err := agent.CheckText("variable "+name, value); err != nil {
		return err
	}
	secret := name
	if _, err := Expand(value, func(used string) (string, bool) {
		if !agent.NamesSecret(secret) {
			secret = used
		}
		return "", true
	}); err != nil {
		return fail.Errorf(fail.BadInput, "%s: %w", name, err)
	}
	if agent.NamesSecret(secret) {
		return fail.Errorf(fail.BadInput, "%s: the record would keep a secret; export %s before up: claude gets it from there", name, secret)
	}
	return claude.CheckEnv(map[string]string{name: value})
}

// Expand replaces each ${NAME} in the value of a variable by the variable of that name. $${ stands for ${ itself, and
// every other $ for itself. Errors: BadInput if a ${ has no name, or find does not know it.
func Expand(value string, find func(name string) (string, bool)) (string, error) {
	var b strings.Builder
	for {
		before, rest, found := strings.Cut(value, "${")
		if !found {
			b.WriteString(value)
			return b.String(), nil
		}
		if escaped, is := strings.CutSuffix(before, "$"); is {
			b.WriteString(escaped + "${")
			value = rest
			continue
		}
		b.WriteString(before)
		name, after, closed := strings.Cut(rest, "}")
		if !closed || !agent.IsVariableName(name) {
			return "", fail.Errorf(fail.BadInput, "%s is not ${NAME}; for the characters ${ themselves write $${", human.Quote("${"+rest))
		}
		text, known := find(name)
		if !known {
			return "", fail.Errorf(fail.BadInput, "the variable %s is not set", name)
		}
		b.WriteString(text)
		value = after
	}
}
